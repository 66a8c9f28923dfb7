import { foldLetters } from './foldLetters.ts';

// Letters with which no word begins or ends. They keep the names of definitions apart from other words, those of types and constants
// from those of functions and variables, and `_retry`, `$retry` and `retry?` from `retry`. At the end they keep a name from being
// stemmed: `Serializer` and `Serialize` are different definitions. They are ASCII, because the tokenizer takes several times as long for
// other letters.
const START = 'zqx';
const UNDERSCORE_START = 'zqj';
const DOLLAR_START = 'zqv';
const SIGN_START = 'zqk';
const STARTS = [START, UNDERSCORE_START, DOLLAR_START, SIGN_START];
const CAPITAL = 'qzj';
const SMALL = 'qzk';
// Digits would split a word into parts.
const DIGITS = 'qxjzkvwbgp';
const MOST_CHARACTERS = 40;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const NO_LETTERS = /[^\p{L}\p{N}]+/gu;
const NO_ASCII_LETTERS = /[^A-Za-z0-9]+/g;
const DIGIT = /[0-9]/g;
const HAS_DIGIT = /[0-9]/;
// Most names. Expressions with Unicode's classes take milliseconds to compile, and longer to match.
const ASCII_LETTERS = /^[A-Za-z]{1,40}$/;
const ASCII = /^[ -~]*$/;
const CAPITAL_LETTER = /^\p{Lu}/u;
const FIRST_LETTER = 65;
const LAST_CAPITAL = 90;

/**
 * The term of the index for the definition of a name, regardless of what joins its parts and of the case of its letters but the first:
 * `retryDelay` and `retry_delay` have the same. Undefined for a name without letters. Only the start of a very long name counts.
 */
export function definitionTerm(name: string): string | undefined {
  const letters = lettersOf(name);
  return letters === '' ? undefined : termOf(letters, startOf(name), isCapital(letters));
}

/** The terms of the definitions that differ in the case of the first letter, then of those that differ in a sign before or after the name. */
export function otherDefinitionTerms(name: string): readonly string[] {
  const letters = lettersOf(name);
  if (letters === '') return [];
  const [ownStart, isUpper] = [startOf(name), isCapital(letters)];
  const others = STARTS.filter((start) => start !== ownStart).flatMap((start) => [
    termOf(letters, start, isUpper),
    termOf(letters, start, !isUpper),
  ]);
  return [termOf(letters, ownStart, !isUpper), ...others];
}

function lettersOf(name: string): string {
  if (ASCII_LETTERS.test(name)) return name;
  if (ASCII.test(name)) return name.replace(NO_ASCII_LETTERS, '').slice(0, MOST_CHARACTERS);
  const letters = foldLetters(name).replace(NO_LETTERS, '').slice(0, MOST_CHARACTERS);
  return CJK.test(letters) ? '' : letters;
}

function termOf(letters: string, start: string, isUpper: boolean): string {
  const lower = letters.toLowerCase();
  const plain = HAS_DIGIT.test(lower) ? lower.replace(DIGIT, (digit) => `q${DIGITS[Number(digit)] ?? ''}`) : lower;
  return `${start}${plain}${isUpper ? CAPITAL : SMALL}`;
}

/** Methods in Ruby may end in a sign. */
function startOf(name: string): string {
  if (name.startsWith('_')) return UNDERSCORE_START;
  if (name.startsWith('$')) return DOLLAR_START;
  return name.endsWith('?') || name.endsWith('!') || name.endsWith('=') ? SIGN_START : START;
}

function isCapital(letters: string): boolean {
  const first = letters.charCodeAt(0);
  return first <= LAST_CAPITAL ? first >= FIRST_LETTER : first > 127 && CAPITAL_LETTER.test(letters);
}
