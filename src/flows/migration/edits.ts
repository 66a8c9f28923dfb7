/** A replacement of a part of a text, by offsets. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Something that has to be changed by hand. */
export interface Unconverted {
  readonly offset: number;
  readonly message: string;
}

/** The text with all edits; those at the same place keep their order. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, text: inserted } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(from, start) + inserted;
    from = end;
  }
  return result + text.slice(from);
}

/** What removes a statement: with its line, if nothing else is on it. */
export function removal(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end));
  const isWholeLine = rest !== null && text.slice(lineStart, start).trim() === '';
  return isWholeLine ? { start: lineStart, end: end + rest[0].length, text: '' } : { start, end, text: '' };
}
