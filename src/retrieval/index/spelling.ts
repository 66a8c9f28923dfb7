import { withoutPositions } from '../search/fileMentions.ts';
import { isFrequentWord } from '../tokenizer/proseLanguages.ts';
import { inflectionTerms } from '../tokenizer/proseStems.ts';
import { definitionTerm, otherDefinitionTerms } from '../tokenizer/definitionTerm.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { isStopWord } from '../tokenizer/stopWords.ts';
import { partsOf, type WordAnalyzer } from '../tokenizer/wordAnalyzer.ts';

/** Words that occur in no document, with their probable corrections. */
export type Corrections = ReadonlyMap<string, string>;

// Most shorter ones are one edit away from each other.
const LEAST_LETTERS = 3;
const MOST_LETTERS = 64;
// Longer text was probably pasted, and many of its unknown words are addresses.
const MOST_WORDS = 40;
const MOST_TRIED = 4;
// An agent noun: `worker` for `work`, which the stemmer distinguishes.
const AGENT = /(?:er|or)s?$/i;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const IS_PLAIN = /^[A-Za-z_$][\w$]*$/;
// The first letter is seldom wrong.
const SAME_START = 8;
// A stem may be as much shorter than its word.
const LONGEST_ENDING = 7;
// The names of definitions are searched for more than other words.
const DEFINED = 10;

/** What is known of the terms of an index. */
interface KnownTerms {
  /** The number of documents with a term. */
  holdersOf(term: string): number;
  /** Whether a term begins with this, in any case. */
  hasPrefix(start: string): boolean;
}

/**
 * Finds what unknown words of a query were meant to be: the word of the index that is one edit away, where a swap of neighbours is one
 * edit (Damerau, 1964), and that most documents contain. An identifier is corrected as a whole, else by its unknown parts.
 *
 * @param isRight true for a word that is not to be corrected: one that is still being typed, for example.
 */
export function findCorrections(
  text: string,
  analyzer: WordAnalyzer,
  known: KnownTerms,
  isRight: (word: string) => boolean = () => false,
): Corrections {
  const corrections = new Map<string, string>();
  const words: string[] = [];
  scanWords(withoutPositions(text), (word) => words.push(word));
  if (words.length > MOST_WORDS) return corrections;
  const isKnown = (word: string): boolean =>
    known.holdersOf(analyzer.wholeTerm(word) ?? '') > 0 || inflectionTerms([word], known).length > 0;
  let tried = 0;
  for (const word of new Set(words)) {
    if (!IS_PLAIN.test(word) || word.length < LEAST_LETTERS || word.length > MOST_LETTERS || isKnown(word)) continue;
    if (isRight(word) || isStopWord(word) || isFrequentWord(word.toLowerCase())) continue;
    if (isKnown(word.replace(AGENT, ''))) continue;
    if (tried++ >= MOST_TRIED) break;
    const whole = bestEdit(word, analyzer, known);
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
      const written = at < 0 ? undefined : corrected.slice(at, at + part.length);
      const better = written === undefined ? undefined : bestEdit(written, analyzer, known);
      if (written === undefined || better === undefined) return;
      corrected = corrected.replace(written, () => better);
    }
    if (corrected !== word) corrections.set(word, corrected);
  }
}

/** The text with its words corrected. */
export function applyCorrections(text: string, corrections: Corrections): string {
  let corrected = text;
  for (const [word, better] of corrections) corrected = corrected.replaceAll(word, () => better);
  return corrected;
}

function bestEdit(word: string, analyzer: WordAnalyzer, terms: KnownTerms): string | undefined {
  const seen = new Set<string>();
  let [best, most]: [string | undefined, number] = [undefined, 0];
  for (const edit of edits(word, reachOf(word, terms))) {
    const term = analyzer.wholeTerm(edit);
    if (term === undefined || seen.has(term)) continue;
    seen.add(term);
    const holders = terms.holdersOf(term) * (edit[0] === word[0] ? SAME_START : 1);
    const likelihood = holders > 0 && isDefined(edit, terms) ? DEFINED * holders : holders;
    if (likelihood > most) [best, most] = [edit, likelihood];
  }
  return best;
}

/** The position up to which a word can be edited: the text before an edit must be a prefix of a term, or of a word with a shorter stem. */
function reachOf(word: string, terms: KnownTerms): number {
  const start = word.search(/[^_$]/); // terms begin behind these
  let [low, high] = [Math.max(0, start), word.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (terms.hasPrefix(word.slice(start, middle))) low = middle;
    else high = middle - 1;
  }
  return Math.min(word.length, low + LONGEST_ENDING);
}

function isDefined(name: string, terms: KnownTerms): boolean {
  return [definitionTerm(name), ...otherDefinitionTerms(name)].some(
    (term) => term !== undefined && terms.holdersOf(term) > 0,
  );
}

/** The words that are one edit away, up to a position: swaps first, then changed, missing and additional letters. */
function* edits(word: string, reach: number): Generator<string, void> {
  const end = Math.min(word.length, reach + 1);
  for (let at = 0; at < Math.min(end, word.length - 1); at += 1) {
    if (word[at] !== word[at + 1]) yield `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  }
  for (let at = 0; at <= reach; at += 1)
    for (const letter of LETTERS) yield word.slice(0, at) + letter + word.slice(at);
  for (let at = 0; at < end; at += 1) {
    for (const letter of LETTERS) if (letter !== word[at]) yield word.slice(0, at) + letter + word.slice(at + 1);
  }
  for (let at = 0; at < end; at += 1) yield word.slice(0, at) + word.slice(at + 1);
}
