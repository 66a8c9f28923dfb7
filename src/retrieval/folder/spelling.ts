import { definitionTerm, otherDefinitionTerms } from '../tokenizer/definitionTerm.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { partsOf, type WordAnalyzer } from '../tokenizer/words.ts';

/** Words that are in no document, and what they were probably meant to be. */
export type Corrections = ReadonlyMap<string, string>;

// Most shorter ones are one edit away from each other.
const LEAST_LETTERS = 3;
const MOST_LETTERS = 64;
// Longer text is pasted, and many of its unknown words are addresses.
const MOST_WORDS = 40;
const MOST_TRIED = 4;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const IS_PLAIN = /^[A-Za-z_$][\w$]*$/;
// The first letter is seldom wrong.
const SAME_START = 8;
// The names of definitions are searched for more than other words.
const DEFINED = 10;

/**
 * Finds what unknown words of a query were meant to be: the word of the index that is one edit away, where a swap of neighbours is one
 * edit (Damerau, 1964), and that most documents contain. An identifier is corrected as a whole, else by its unknown parts.
 *
 * @param holdersOf the number of documents with each term.
 * @param isComplete false for a word that is still being typed.
 */
export function findCorrections(
  text: string,
  analyzer: WordAnalyzer,
  holdersOf: (term: string) => number,
  isComplete: (word: string) => boolean = () => true,
): Corrections {
  const corrections = new Map<string, string>();
  const words: string[] = [];
  scanWords(text, (word) => words.push(word));
  if (words.length > MOST_WORDS) return corrections;
  const isKnown = (word: string): boolean => holdersOf(analyzer.wholeTerm(word) ?? '') > 0;
  let tried = 0;
  for (const word of new Set(words)) {
    if (!IS_PLAIN.test(word) || word.length < LEAST_LETTERS || word.length > MOST_LETTERS || isKnown(word)) continue;
    if (!isComplete(word)) continue;
    if (tried++ >= MOST_TRIED) break;
    const whole = bestEdit(word, analyzer, holdersOf);
    if (whole !== undefined) corrections.set(word, whole);
    else correctParts(word);
  }
  return corrections;

  function correctParts(word: string): void {
    const [, ...parts] = partsOf(word);
    const unknown = parts.filter((part) => part.length >= LEAST_LETTERS && !isKnown(part));
    let corrected = word;
    for (const part of unknown) {
      const at = corrected.toLowerCase().indexOf(part);
      const own = at < 0 ? undefined : corrected.slice(at, at + part.length);
      const better = own === undefined ? undefined : bestEdit(own, analyzer, holdersOf);
      if (own === undefined || better === undefined) return;
      corrected = corrected.replace(own, () => better);
    }
    if (corrected !== word) corrections.set(word, corrected);
  }
}

/** The text with its words corrected. */
export function correct(text: string, corrections: Corrections): string {
  let corrected = text;
  for (const [word, better] of corrections) corrected = corrected.replaceAll(word, () => better);
  return corrected;
}

function bestEdit(word: string, analyzer: WordAnalyzer, holdersOf: (term: string) => number): string | undefined {
  const seen = new Set<string>();
  let [best, most]: [string | undefined, number] = [undefined, 0];
  for (const edit of edits(word)) {
    const term = analyzer.wholeTerm(edit);
    if (term === undefined || seen.has(term)) continue;
    seen.add(term);
    const holders = holdersOf(term) * (edit[0] === word[0] ? SAME_START : 1);
    const likelihood = holders > 0 && isDefined(edit, holdersOf) ? DEFINED * holders : holders;
    if (likelihood > most) [best, most] = [edit, likelihood];
  }
  return best;
}

function isDefined(name: string, holdersOf: (term: string) => number): boolean {
  return [definitionTerm(name), ...otherDefinitionTerms(name)].some(
    (term) => term !== undefined && holdersOf(term) > 0,
  );
}

/** The words that are one edit away: swaps first, then changed, missing and additional letters. */
function* edits(word: string): Generator<string, void> {
  const end = word.length;
  for (let at = 0; at < end - 1; at += 1) {
    if (word[at] !== word[at + 1]) yield `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  }
  for (let at = 0; at <= end; at += 1) for (const letter of LETTERS) yield word.slice(0, at) + letter + word.slice(at);
  for (let at = 0; at < end; at += 1) {
    for (const letter of LETTERS) if (letter !== word[at]) yield word.slice(0, at) + letter + word.slice(at + 1);
  }
  for (let at = 0; at < end; at += 1) yield word.slice(0, at) + word.slice(at + 1);
}
