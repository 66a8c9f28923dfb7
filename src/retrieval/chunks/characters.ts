const TAB = 9;
const SPACE = 32;
const DOLLAR = 36;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const COLON = 58;
const A = 65;
const UNDERSCORE = 95;
const SMALL_A = 97;
const LAST_ASCII = 127;
const LETTERS = 26;
const DIGITS = 10;

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Whether a character is in a keyword of any language. */
export function isLetter(code: number): boolean {
  return (
    (code >= SMALL_A && code < SMALL_A + LETTERS) ||
    (code >= A && code < A + LETTERS) ||
    code === UNDERSCORE ||
    code === MINUS
  );
}

/** Whether a character may be in a qualified name; true for all that are not ASCII. */
export function isNamePart(code: number): boolean {
  return (
    (isLetter(code) && code !== MINUS) ||
    (code >= ZERO && code < ZERO + DIGITS) ||
    code === DOLLAR ||
    code === DOT ||
    code === COLON ||
    code > LAST_ASCII
  );
}
