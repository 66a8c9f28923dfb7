const WORD = /[\p{L}\p{N}\p{M}]/u;
const UNDERSCORE = 95;
const DOLLAR = 36;
const HIGH_SURROGATE = 0xd8_00;
const LOW_SURROGATE = 0xdc_00;
const LAST_SURROGATE = 0xdf_ff;

/**
 * Calls `visit` with the place and the hash of each word of a text, in order. A word is a run of letters, digits and marks of
 * any script, `_` and `$`; half of a surrogate pair is none.
 */
export function scanWords(text: string, visit: (start: number, end: number, hash: number) => void): void {
  let start = -1;
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128 ? isAsciiWord(code) : isOtherWord(code, text, at)) {
      if (start < 0) {
        start = at;
        hash = 0;
      }
      hash = Math.imul(hash ^ code, 0x5b_d1_e9_95);
      hash ^= hash >>> 15;
    } else if (start >= 0) {
      visit(start, at, hash);
      start = -1;
    }
  }
  if (start >= 0) visit(start, text.length, hash);
}

function isAsciiWord(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || code === UNDERSCORE || code === DOLLAR;
}

function isOtherWord(code: number, text: string, at: number): boolean {
  if (code < HIGH_SURROGATE || code > LAST_SURROGATE) return WORD.test(text.charAt(at));
  const point = text.codePointAt(code >= LOW_SURROGATE ? at - 1 : at);
  return point !== undefined && point > 0xff_ff && WORD.test(String.fromCodePoint(point));
}
