export type TextEncoding = 'utf-16le' | 'utf-16be' | 'bytes' | 'binary';

// A NUL in the first bytes means binary, as in git.
const SNIFFED_BYTES = 8_000;
// Control characters except white space.
const CONTROL = /[\u0000-\u0008\u000e-\u001f]/;
// In UTF-16 of Latin script, at least this share of the code units has a zero byte; other scripts need the byte order mark.
const LEAST_ZERO_BYTES = 0.5;
// Fewer may be a coincidence.
const LEAST_ZEROS = 4;

/** How the text of a file is encoded, from its first bytes; `bytes` is UTF-8 or another encoding that extends ASCII. */
export function detectEncoding(bytes: Uint8Array): TextEncoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const beginning = bytes.subarray(0, SNIFFED_BYTES);
  return beginning.includes(0) ? (guessUtf16(beginning) ?? 'binary') : 'bytes';
}

/** A text without the mark that editors of Windows write at the start of UTF-8, which is no part of it (RFC 8259, section 8.1). */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** UTF-16 has zeros in either the even or the odd bytes. Binary data has them anywhere, and control characters too. */
function guessUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  let even = 0;
  let odd = 0;
  for (let at = 0; at < bytes.length; at += 2) if (bytes[at] === 0) even += 1;
  for (let at = 1; at < bytes.length; at += 2) if (bytes[at] === 0) odd += 1;
  const most = Math.max(even, odd);
  if (Math.min(even, odd) > 0 || most < LEAST_ZEROS || most < (LEAST_ZERO_BYTES * bytes.length) / 2) return undefined;
  const encoding = odd > 0 ? 'utf-16le' : 'utf-16be';
  const text = new TextDecoder(encoding).decode(bytes);
  return CONTROL.test(text) ? undefined : encoding;
}
