import { PADDING, WordKey } from './wordKey.ts';

const WORD = /[\p{L}\p{N}\p{M}]/u;
const ASCII_WORD = /[\w$]/;
const LAST_ASCII = 127;
// 1 for an ASCII byte that is part of a word.
const IN_WORD = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= LAST_ASCII && ASCII_WORD.test(String.fromCharCode(byte)) ? 1 : 0,
);
// Whether a character of up to three bytes is part of a word, found out when it is first seen: asking a regular expression each
// time takes fifty times as long.
const UNKNOWN = 2;
const points = new Uint8Array(1 << 16).fill(UNKNOWN);

/**
 * Finds the words of a text, one after the other. A word is a run of letters, digits and marks of any script, `_` and `$`;
 * half of a surrogate pair is none.
 */
export class WordScanner {
  readonly key = new WordKey();
  /** The text in UTF-8, and the place of the word in it. */
  bytes = Buffer.alloc(1 << 12);
  start = 0;
  end = 0;
  #view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
  /** Where words begin and end, by turns. */
  #borders = new Int32Array(1 << 12);
  #borderCount = 0;
  #next = 0;

  /** Goes to the beginning of a text. */
  open(text: string): void {
    const most = 3 * text.length + PADDING;
    if (most > this.bytes.length) {
      this.bytes = Buffer.alloc(2 * most);
      this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
      this.#borders = new Int32Array(2 * most);
    }
    // In one go, since asking a string for each of its characters takes several times as long.
    const length = this.bytes.write(text);
    this.bytes[length] = 0;
    this.#next = 0;
    if (length === text.length) this.#findAsciiBorders(length);
    else this.#findBorders(length);
  }

  get wordCount(): number {
    return this.#borderCount >> 1;
  }

  /** The word as a string, which takes long for every word of a folder. */
  get word(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  get isAscii(): boolean {
    for (let at = this.start; at < this.end; at += 1) if ((this.bytes[at] ?? 0) > LAST_ASCII) return false;
    return true;
  }

  /** Goes to the next word; false behind the last. */
  next(): boolean {
    const next = this.#next;
    if (next >= this.#borderCount) return false;
    const [start, end] = [this.#borders[next] ?? 0, this.#borders[next + 1] ?? 0];
    this.#next = next + 2;
    this.start = start;
    this.end = end;
    this.key.read(this.#view, start, end);
    return true;
  }

  // There is no branch in this loop that the processor could foresee wrongly, as it does at the ends of words.
  #findAsciiBorders(length: number): void {
    const [bytes, borders] = [this.bytes, this.#borders];
    let [count, before] = [0, 0];
    for (let at = 0; at <= length; at += 1) {
      const kind = IN_WORD[bytes[at] ?? 0] ?? 0;
      borders[count] = at;
      count += kind ^ before;
      before = kind;
    }
    this.#borderCount = count;
  }

  #findBorders(length: number): void {
    const [bytes, borders] = [this.bytes, this.#borders];
    let [count, before] = [0, 0];
    for (let at = 0; at <= length; ) {
      const byte = bytes[at] ?? 0;
      const kind = byte <= LAST_ASCII ? (IN_WORD[byte] ?? 0) : kindAt(bytes, at);
      borders[count] = at;
      count += kind ^ before;
      before = kind;
      at += byte <= LAST_ASCII ? 1 : sizeOf(byte);
    }
    this.#borderCount = count;
  }
}

/** Calls `visit` with each word of a text, in order, and where it begins. */
export function scanWords(text: string, visit: (word: string, start: number) => void): void {
  const scanner = new WordScanner();
  scanner.open(text);
  let end = 0;
  while (scanner.next()) {
    const { word } = scanner;
    const start = text.indexOf(word, end); // nothing between two words is part of one
    end = start + word.length;
    visit(word, start);
  }
}

/** How many bytes the character has that begins with a byte. */
function sizeOf(first: number): number {
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** 1 where the character of several bytes at a place is part of a word. */
function kindAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const size = sizeOf(first);
  let point = first & (0xff >> (size + 1));
  for (let next = 1; next < size; next += 1) point = (point << 6) | ((bytes[at + next] ?? 0) & 0x3f);
  if (size === 4) return kindOf(point);
  let kind = points[point] ?? UNKNOWN;
  if (kind === UNKNOWN) points[point] = kind = kindOf(point);
  return kind;
}

function kindOf(point: number): number {
  return WORD.test(String.fromCodePoint(point)) ? 1 : 0;
}
