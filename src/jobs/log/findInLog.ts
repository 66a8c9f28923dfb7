import type { EventSpool } from './spool.ts';
import { MAX_LINE } from './longLines.ts';
import { ViewText } from './viewText.ts';

/** A line of a log, with its number in the whole log, 1-based. */
export interface LogLine {
  readonly line: number;
  readonly text: string;
}

// How programs, compilers and loggers mark errors. A word alone such as "error" is also in "0 errors" and "error rate 0.3".
const ERROR =
  /^Traceback \(most recent call last\)|\b\w*(?:Error|Exception)\b:|\b(?:ERROR|FATAL|CRITICAL)\b|\b(?:error|fatal|panic)(?: ?\[\w+\])?:|\bpanicked at\b|^thread '.*' panicked|\bSegmentation fault\b|\bKilled$/;

/** Whether a line of output reports an error. */
export function isErrorLine(line: string): boolean {
  return ERROR.test(line);
}

/** Whether a line contains a text, in any case. */
export function containing(text: string): (line: string) => boolean {
  // Of patterns, `u` folds the case of letters of all languages.
  const pattern = new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
  return (line) => pattern.test(line);
}

/**
 * Yields the lines of a job's log that match, in order. Reads the spool piece by piece, so memory does not depend on its length.
 *
 * @throws the signal's reason on abort.
 */
export async function* findInLog(
  spool: Pick<EventSpool, 'read'>,
  matches: (line: string) => boolean,
  signal: AbortSignal,
): AsyncGenerator<LogLine, void> {
  const text = new ViewText({});
  let number = 1;
  let open = '';
  for await (const event of spool.read({ signal })) {
    const lines = (open + text.push(event)).split('\n');
    // A line that is split between two parts counts as one, as in the parts.
    open = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) {
      if (matches(line)) yield { line: number, text: line };
      number += 1;
    }
  }
  const last = open + text.flush();
  if (matches(last)) yield { line: number, text: last };
}
