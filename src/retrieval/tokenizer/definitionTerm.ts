import { foldLetters } from './foldLetters.ts';

// Letters with which no word begins or ends. They keep the names of definitions apart from other words, and those of types and constants
// from those of functions and variables. At the end they keep a name from being stemmed: `Serializer` and `Serialize` are different
// definitions. They are ASCII, because the tokenizer takes several times as long for other letters.
const START = 'zqx';
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
  return termOf(lettersOf(name), true);
}

/** The term of the definition that differs in the case of its first letter. */
export function otherDefinitionTerm(name: string): string | undefined {
  return termOf(lettersOf(name), false);
}

function lettersOf(name: string): string {
  if (ASCII_LETTERS.test(name)) return name;
  if (ASCII.test(name)) return name.replace(NO_ASCII_LETTERS, '').slice(0, MOST_CHARACTERS);
  const letters = foldLetters(name).replace(NO_LETTERS, '').slice(0, MOST_CHARACTERS);
  return CJK.test(letters) ? '' : letters;
}

function termOf(letters: string, isSameCase: boolean): string | undefined {
  if (letters === '') return undefined;
  const lower = letters.toLowerCase();
  const plain = HAS_DIGIT.test(lower) ? lower.replace(DIGIT, (digit) => `q${DIGITS[Number(digit)] ?? ''}`) : lower;
  return `${START}${plain}${isCapital(letters) === isSameCase ? CAPITAL : SMALL}`;
}

function isCapital(letters: string): boolean {
  const first = letters.charCodeAt(0);
  return first <= LAST_CAPITAL ? first >= FIRST_LETTER : first > 127 && CAPITAL_LETTER.test(letters);
}
