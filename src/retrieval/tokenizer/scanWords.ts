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

/** Calls `visit` with each word of a text, in order, and where it begins. */
export function scanWords(text: string, visit: (word: string, start: number) => void): void {
  const bytes = Buffer.from(`${text}\0`);
  const borders = new Uint32Array(text.length + 2);
  const borderCount = findBorders(bytes, 0, bytes.length - 1, borders, 0);
  let end = 0;
  for (let at = 0; at < borderCount; at += 2) {
    const word = bytes.toString('utf8', borders[at], borders[at + 1]);
    const start = text.indexOf(word, end); // nothing between two words is part of one
    end = start + word.length;
    visit(word, start);
  }
}

/**
 * Finds where words begin and end, by turns, in the UTF-8 between two places, behind which is a zero, and writes these places from
 * `first` on; gives the end of that. A word is a run of letters, digits and marks of any script, `_` and `$`; half of a
 * surrogate pair is none.
 */
export function findBorders(bytes: Uint8Array, from: number, to: number, borders: Uint32Array, first: number): number {
  let [next, before] = [first, 0];
  for (let at = from; at <= to; ) {
    const byte = bytes[at] ?? 0;
    const kind = byte <= LAST_ASCII ? (IN_WORD[byte] ?? 0) : kindAt(bytes, at);
    borders[next] = at;
    next += kind ^ before;
    before = kind;
    at += byte <= LAST_ASCII ? 1 : sizeOf(byte);
  }
  return next;
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
