const WORD = /[\p{L}\p{N}\p{M}]/u;
const ASCII_WORD = /[\w$]/;
const LAST_ASCII = 127;
// 1 for an ASCII byte that is part of a word.
const IN_WORD = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= LAST_ASCII && ASCII_WORD.test(String.fromCharCode(byte)) ? 1 : 0,
);
// Whether a character of up to three bytes is part of a word; computed when it is first seen, because a regular expression each time
// takes fifty times as long.
const UNKNOWN = 2;
const points = new Uint8Array(1 << 16).fill(UNKNOWN);

// Enough for names and most queries, for which creating larger buffers would take longer than splitting.
const SHORT = 100;
const ASCII = /^[\x00-\x7f]*$/;
const ASCII_WORDS = /[\w$]+/g;

/** Calls `visit` with each word of a text, in order, and its start. */
export function scanWords(text: string, visit: (word: string, start: number) => void): void {
  if (text.length <= SHORT && ASCII.test(text)) {
    for (const { 0: word, index } of text.matchAll(ASCII_WORDS)) visit(word, index);
    return;
  }
  const bytes = Buffer.from(`${text}\0`);
  const spans = new Uint32Array(text.length + 2);
  const spanCount = findWordSpans(bytes, 0, bytes.length - 1, spans, 0);
  let end = 0;
  for (let at = 0; at < spanCount; at += 2) {
    const word = bytes.toString('utf8', spans[at], spans[at + 1]);
    const start = text.indexOf(word, end); // the text between two words is part of neither
    end = start + word.length;
    visit(word, start);
  }
}

/**
 * Writes the spans of the words in the UTF-8 between two addresses, which must be followed by a zero, from `first` on, and returns the
 * end. A word is a run of letters, digits and marks of any script, `_` and `$`; half of a surrogate pair is not part of one.
 */
export function findWordSpans(bytes: Uint8Array, from: number, to: number, spans: Uint32Array, first: number): number {
  let [next, before] = [first, 0];
  for (let at = from; at <= to; ) {
    const byte = bytes[at] ?? 0;
    const kind = byte <= LAST_ASCII ? (IN_WORD[byte] ?? 0) : kindAt(bytes, at);
    spans[next] = at;
    next += kind ^ before;
    before = kind;
    at += byte <= LAST_ASCII ? 1 : sizeOf(byte);
  }
  return next;
}

/** The length in bytes of the character that begins with a byte. */
function sizeOf(first: number): number {
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** 1 if the multi-byte character at an address is part of a word. */
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
