import { scanWords } from '../tokenizer/scanWords.ts';
import { partsOf, type WordAnalyzer } from '../tokenizer/words.ts';

/** Words that are in no document, and what they were probably meant to be. */
export type Corrections = ReadonlyMap<string, string>;

// Too many words are one edit away from a shorter one.
const LEAST_LETTERS = 4;
const MOST_LETTERS = 32;
// Longer text is pasted, and its unknown words are addresses and names.
const MOST_WORDS = 12;
const MOST_CORRECTED = 3;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const IS_PLAIN = /^[A-Za-z_$]+$/;
// The first letter is seldom wrong.
const SAME_START = 8;

/**
 * Finds what unknown words of a query were meant to be: the word of the index that is one edit away, where a swap of neighbours is one
 * edit (Damerau, 1964), and that most documents contain. An identifier is corrected as a whole, else by its unknown parts.
 *
 * @param holdersOf the number of documents with each term.
 */
export function findCorrections(
  text: string,
  analyzer: WordAnalyzer,
  holdersOf: (term: string) => number,
): Corrections {
  const corrections = new Map<string, string>();
  const words: string[] = [];
  scanWords(text, (word) => words.push(word));
  if (words.length > MOST_WORDS) return corrections;
  // The first term is that of the whole word.
  const isKnown = (part: string): boolean => holdersOf(analyzer.termsOf(part)[0] ?? '') > 0;
  for (const word of new Set(words)) {
    if (corrections.size >= MOST_CORRECTED) break;
    if (!IS_PLAIN.test(word) || word.length < LEAST_LETTERS || word.length > MOST_LETTERS) continue;
    const [, ...parts] = partsOf(word);
    const unknown = (parts.length === 0 ? [word] : parts).filter(
      (part) => part.length >= LEAST_LETTERS && !isKnown(part),
    );
    if (unknown.length === 0 || isKnown(word)) continue;
    const whole = bestEdit(word, analyzer, holdersOf);
    if (whole !== undefined) corrections.set(word, whole);
    else if (parts.length > 0) correctParts(word, unknown);
  }
  return corrections;

  function correctParts(word: string, unknown: readonly string[]): void {
    let corrected = word;
    for (const part of unknown) {
      const at = corrected.toLowerCase().indexOf(part);
      const own = at < 0 ? undefined : corrected.slice(at, at + part.length);
      const better = own === undefined ? undefined : bestEdit(own, analyzer, holdersOf);
      if (own === undefined || better === undefined) return;
      corrected = corrected.replace(own, () => better);
    }
    corrections.set(word, corrected);
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
    const [term] = analyzer.termsOf(edit);
    if (term === undefined || seen.has(term)) continue;
    seen.add(term);
    const holders = holdersOf(term) * (edit[0] === word[0] ? SAME_START : 1);
    if (holders > most) [best, most] = [edit, holders];
  }
  return best;
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
