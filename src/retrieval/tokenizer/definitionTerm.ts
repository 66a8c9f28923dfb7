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
const DIGIT = /[0-9]/g;
const ASCII_LETTERS = /^[A-Za-z]+$/;
const LAST_CAPITAL = 90;
const CAPITAL_LETTER = /^\p{Lu}/u;

/**
 * The term of the index for the definition of a name, regardless of what joins its parts and of the case of its letters but the first:
 * `retryDelay` and `retry_delay` have the same. Undefined for a name without letters. Only the start of a very long name counts.
 */
export function definitionTerm(name: string): string | undefined {
  // The letters of most names, without an expression for each step.
  if (ASCII_LETTERS.test(name) && name.length <= MOST_CHARACTERS) {
    return `${START}${name.toLowerCase()}${name.charCodeAt(0) <= LAST_CAPITAL ? CAPITAL : SMALL}`;
  }
  const letters = lettersOf(name);
  return letters === '' ? undefined : marked(letters.toLowerCase(), CAPITAL_LETTER.test(letters));
}

/** The term of the definition that differs in the case of its first letter. */
export function otherDefinitionTerm(name: string): string | undefined {
  const letters = lettersOf(name);
  return letters === '' ? undefined : marked(letters.toLowerCase(), !CAPITAL_LETTER.test(letters));
}

function lettersOf(name: string): string {
  const letters = name.replace(NO_LETTERS, '').slice(0, MOST_CHARACTERS);
  return CJK.test(letters) ? '' : letters;
}

function marked(letters: string, isCapital: boolean): string {
  return `${START}${letters.replace(DIGIT, (digit) => `q${DIGITS[Number(digit)] ?? ''}`)}${isCapital ? CAPITAL : SMALL}`;
}
