import { createContext, Script } from 'node:vm';
import { fieldOf } from '../jsonFields.ts';

const TIME_LIMIT_MS = 1_000;

/** Why a text is not a regular expression; undefined if it is one. */
export function patternFault(pattern: string): string | undefined {
  try {
    RegExp(pattern, 'u');
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/**
 * Does work with patterns of others, which can take longer than the age of the universe. It must have no effects, because it is stopped in
 * the middle. One limit for all of it: that of a single match costs as much as a thousand matches.
 *
 * @returns undefined if it takes longer than a second.
 * @throws what the work throws.
 */
export function withinSecond<T>(work: () => T): T | undefined {
  const context: { done?: T } = createContext({ work });
  try {
    new Script('this.done = work()').runInContext(context, { timeout: TIME_LIMIT_MS });
  } catch (error) {
    // An error of the other context, whose class is another.
    if (fieldOf(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
  return context.done;
}
