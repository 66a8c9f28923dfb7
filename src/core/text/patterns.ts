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
 * Runs work with untrusted patterns, which can take practically forever. The work must have no side effects, because it is stopped in the
 * middle. One time limit covers all of it, because setting one up costs as much as a thousand matches.
 *
 * @returns undefined if it takes longer than a second.
 * @throws what the work throws.
 */
export function withinSecond<T>(work: () => T): T | undefined {
  const context: { done?: T } = createContext({ work });
  try {
    new Script('this.done = work()').runInContext(context, { timeout: TIME_LIMIT_MS });
  } catch (error) {
    // An error of the other context has a class of its own.
    if (fieldOf(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
  return context.done;
}
