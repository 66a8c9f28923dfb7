import { stem } from './stemmer.ts';

/** The longest word that has terms: longer runs are hashes, keys and encoded data. */
export const MAX_WORD = 64;
const UNDERSCORE = 95;
const DOLLAR = 36;
const CASE = 32;

/**
 * The terms of an ASCII word, as `WordAnalyzer.termsOf` gives them, in arrays and not in strings: nearly all words of a folder
 * are ASCII, and each distinct one comes here once.
 */
export class AsciiTerms {
  readonly #term = new Uint8Array(MAX_WORD);
  #bytes: Uint8Array = new Uint8Array(0);
  /** Where each term's part of the word begins and ends, by turns. */
  readonly #borders = new Uint32Array(2 * MAX_WORD + 2);

  /** Gives the number of terms of a word: the whole, and its parts where it has several. */
  open(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > MAX_WORD) return 0;
    let from = start;
    let to = end;
    while (from < to && isSeparator(bytes[from] ?? 0)) from += 1;
    while (to > from && isSeparator(bytes[to - 1] ?? 0)) to -= 1;
    if (from === to) return 0;
    this.#bytes = bytes;
    this.#borders[0] = from;
    this.#borders[1] = to;
    const parts = findParts(bytes, from, to, this.#borders);
    return parts < 2 ? 1 : parts + 1;
  }

  /** Writes one of the terms to a place of the same bytes, and gives its end. */
  write(index: number, place: number): number {
    const bytes = this.#bytes;
    const term = this.#term;
    const from = this.#borders[2 * index] ?? 0;
    const to = this.#borders[2 * index + 1] ?? 0;
    for (let at = from; at < to; at += 1) {
      const code = bytes[at] ?? 0;
      term[at - from] = isUpper(code) ? code | CASE : code;
    }
    const length = stem(term, to - from);
    for (let at = 0; at < length; at += 1) bytes[place + at] = term[at] ?? 0;
    return place + length;
  }
}

/**
 * Cuts at case changes (fooBar, HTTPServer), digits and separators. Gives the number of parts, whose borders it writes behind the
 * first two.
 */
function findParts(bytes: Uint8Array, start: number, end: number, borders: Uint32Array): number {
  let count = 0;
  let at = start;
  while (at < end) {
    let from = at;
    if (isSeparator(bytes[at] ?? 0)) {
      at += 1;
      continue;
    }
    if (isDigit(bytes[at] ?? 0)) {
      while (at < end && isDigit(bytes[at] ?? 0)) at += 1;
    } else {
      while (at < end && isUpper(bytes[at] ?? 0)) at += 1;
      // The last of several capitals begins the next word.
      if (at - from > 1 && at < end && isLower(bytes[at] ?? 0)) {
        count += 1;
        borders[2 * count] = from;
        borders[2 * count + 1] = at - 1;
        from = at - 1;
      }
      if (at - from <= 1) while (at < end && isLower(bytes[at] ?? 0)) at += 1;
    }
    count += 1;
    borders[2 * count] = from;
    borders[2 * count + 1] = at;
  }
  return count;
}

function isSeparator(code: number): boolean {
  return code === UNDERSCORE || code === DOLLAR;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}
