// What redaction is measured against: one search of the text for each of four spellings of a value.
const PLACEHOLDER = '[redacted]';
// Shorter lines of a value, such as braces, occur in ordinary text.
const MIN_LINE = 8;
// A value of any number of lines is searched for as a whole.
const MAX_LINES = 100;

interface RedactedStream {
  /** The redacted text, without an end that may be the beginning of a value. */
  push(text: string): string;
  /** The end that was held back. */
  end(): string;
}

interface Pattern {
  readonly text: string;
  /** For each length of a beginning of the text: its longest end that is a shorter beginning. */
  readonly fallbacks: Uint32Array;
}

/** Searches a text for each of four spellings of each value. It has the part of a redactor that the output of a program goes through. */
export class FourSpellings {
  /** The longest first, so that a value that contains another is replaced as a whole. */
  readonly #patterns: readonly Pattern[];

  constructor(values: readonly string[]) {
    const lines = values
      .flatMap((value) => value.split(/\r?\n/, MAX_LINES))
      .map((line) => line.trim())
      .filter((line) => line.length >= MIN_LINE);
    const texts = new Set([...values.flatMap(spellings), ...lines]);
    this.#patterns = [...texts]
      .toSorted((a, b) => b.length - a.length)
      .map((text) => ({ text, fallbacks: fallbacksOf(text) }));
  }

  redact(text: string): string {
    return this.#replace(text, text.length).text;
  }

  /** For one stream of text: holds back an end that may be the beginning of a value, until more of the text decides it. */
  stream(): RedactedStream {
    let held = '';
    return {
      push: (text) => {
        const all = held + text;
        const { text: clean, read } = this.#replace(all, this.#openEnd(all));
        held = all.slice(read);
        return clean;
      },
      end: () => {
        const rest = this.redact(held);
        held = '';
        return rest;
      },
    };
  }

  /** Replaces the values that begin before `limit`. @returns the redacted text, and the length of the input that it replaces. */
  #replace(text: string, limit: number): { readonly text: string; readonly read: number } {
    let clean = '';
    let read = 0;
    const next = this.#patterns.map((pattern) => ({ pattern: pattern.text, at: text.indexOf(pattern.text) }));
    for (;;) {
      let first: (typeof next)[number] | undefined;
      for (const each of next) {
        if (each.at !== -1 && each.at < read) each.at = text.indexOf(each.pattern, read);
        if (each.at !== -1 && each.at < limit && (first === undefined || each.at < first.at)) first = each;
      }
      if (first === undefined) break;
      clean += text.slice(read, first.at) + PLACEHOLDER;
      read = first.at + first.pattern.length;
    }
    const end = Math.max(read, limit);
    return { text: clean + text.slice(read, end), read: end };
  }

  /** Where the longest end of the text begins that is the beginning of a value; the length of the text if none is. */
  #openEnd(text: string): number {
    let open = text.length;
    for (const pattern of this.#patterns) open = Math.min(open, text.length - overlap(text, pattern));
    return open;
  }
}

/** How many characters at the end of the text are at the beginning of the pattern, but not all of it (Knuth, Morris, Pratt 1977). */
function overlap(text: string, { text: pattern, fallbacks }: Pattern): number {
  let length = 0;
  for (let index = Math.max(0, text.length - pattern.length + 1); index < text.length; index += 1) {
    while (length > 0 && pattern[length] !== text[index]) length = fallbacks[length - 1] ?? 0;
    if (pattern[length] === text[index]) length += 1;
  }
  return length;
}

function fallbacksOf(pattern: string): Uint32Array {
  const fallbacks = new Uint32Array(pattern.length);
  for (let index = 1, length = 0; index < pattern.length; index += 1) {
    while (length > 0 && pattern[length] !== pattern[index]) length = fallbacks[length - 1] ?? 0;
    if (pattern[length] === pattern[index]) length += 1;
    fallbacks[index] = length;
  }
  return fallbacks;
}

function spellings(value: string): string[] {
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    Buffer.from(value).toString('base64'),
  ];
}
