import { Script } from 'node:vm';

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
 * Whether a text matches a pattern of somebody else, which can take longer than the age of the universe.
 *
 * @returns undefined if it takes longer than a second, or is not a regular expression.
 */
export function matchesInTime(pattern: string, text: string): boolean | undefined {
  // Both are literals: nothing of them runs as code.
  const [source, subject] = [pattern, text].map((value) => JSON.stringify(value));
  try {
    return (
      new Script(`new RegExp(${source}, "u").test(${subject})`).runInThisContext({ timeout: TIME_LIMIT_MS }) === true
    );
  } catch {
    return undefined;
  }
}
