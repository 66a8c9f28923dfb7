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

export function insertion(offset: number, text: string): Edit {
  return { start: offset, end: offset, text };
}

/** The text with all edits, which must not overlap; those at the same place keep their order. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  for (const { start, end, text: inserted } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(from, start) + inserted;
    from = end;
  }
  return result + text.slice(from);
}

/** Changes to a text that leave every line where it was. They may come in any order and must not overlap. */
export class TextEdits {
  readonly #text: string;
  readonly #edits: Edit[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text });
  }

  /** Replaces a part by `text`, which has no line break, and keeps the line breaks of that part after it. */
  replace(start: number, end: number, text: string): void {
    const lines = this.#text.slice(start, end).replaceAll(/[^\n]/g, '');
    this.#edits.push({ start, end, text: text + lines });
  }

  apply(): string {
    return edited(this.#text, this.#edits);
  }
}

/** What removes a statement: with its line, if nothing else is on it. */
export function removal(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end));
  const isWholeLine = rest !== null && text.slice(lineStart, start).trim() === '';
  return isWholeLine ? { start: lineStart, end: end + rest[0].length, text: '' } : { start, end, text: '' };
}
