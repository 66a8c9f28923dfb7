import type { Edit } from '../syntax/edits.ts';

/** Something that has to be changed by hand. */
export interface Unconverted {
  readonly offset: number;
  readonly message: string;
}

/** What removes a statement: with its line, if nothing else is on it. */
export function removal(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end));
  const isWholeLine = rest !== null && text.slice(lineStart, start).trim() === '';
  return isWholeLine ? { start: lineStart, end: end + rest[0].length, text: '' } : { start, end, text: '' };
}
