import { definitionTerm, otherDefinitionTerms } from '../tokenizer/definitionTerm.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { isStopWord } from '../tokenizer/stopWords.ts';
import { withoutPossessives } from '../tokenizer/wordAnalyzer.ts';

/** The term of a definition, whose weight is multiplied by a factor. */
export interface DefinitionQuery {
  readonly term: string;
  readonly factor: number;
  /** Whether the whole query names it, and with the same first letter; else it is one of several that are mentioned. */
  readonly fit: 'exact' | 'other form' | 'mentioned';
}

// How much more than its rarity a definition counts: the one that a query names, one of several that it mentions, and one whose name may
// be two of its words. The last was measured by `bench/fileRanking.ts` and `bench/names.ts`: from 1 on, questions rank worse.
const NAMED = 3;
const MENTIONED = 1.5;
const PAIR = 0.5;
// A name with another first letter (`Retry` and `retry`, `_retry` and `retry`) is probably another one.
const OTHER_FORM = 0.4;
const MOST_WORDS = 6;
const MOST_CHARACTERS = 200;
const MOST_TERMS = 24;
// An identifier by its form: `retryDelay`, `RetryDelay`, `retry_delay`, `retry()`, and the parts of `Net::Retry`, `net.retry`.
const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*(?:(?:::|->|[.#\\])[\p{L}_$][\p{L}\p{N}_$]*)*(?:\(\))?/gu;
const IS_MARKED = /\p{Ll}\p{Lu}|[\p{L}\p{N}]_\p{L}|::|->|\(\)$/u;
const CAPITAL = /\p{Lu}/u;
const SENTENCE_END = /[.?!]+$/;
const QUALIFIER = /::|->|[.#\\]/;
// Longer text is pasted, and its start says enough.
const MOST_READ = 4000;

/** The terms of the definitions that a query names: as a whole, in its words together, or by identifiers or pairs of words in a sentence. */
export function definitionTerms(text: string): readonly DefinitionQuery[] {
  const definitions = new Map<string, DefinitionQuery>();
  const offer = (term: string | undefined, factor: number, fit: DefinitionQuery['fit']): void => {
    if (term !== undefined && (definitions.get(term)?.factor ?? 0) < factor)
      definitions.set(term, { term, factor, fit });
  };
  const named = (name: string): void => {
    offer(definitionTerm(name), NAMED, 'exact');
    for (const term of otherDefinitionTerms(name)) offer(term, NAMED * OTHER_FORM, 'other form');
  };
  const mentioned = (name: string): void => {
    offer(definitionTerm(name), MENTIONED, 'mentioned');
    offer(otherDefinitionTerms(name)[0], MENTIONED * OTHER_FORM, 'mentioned');
  };
  const read = text.slice(0, MOST_READ).trim();
  const words = read.split(/\s+/);
  if (words.length === 1 && read.length <= MOST_CHARACTERS) {
    named(read);
  } else if (read.length <= MOST_CHARACTERS && words.length <= MOST_WORDS && !words.every(isStopWord)) {
    const name = read.replace(SENTENCE_END, '');
    named(name);
    // Words in lower case may be the parts of a type's name as well as of a function's.
    if (!CAPITAL.test(name)) offer(definitionTerm(capitalized(name)), NAMED, 'exact');
  }
  for (const [name] of read.matchAll(IDENTIFIER)) {
    if (definitions.size >= MOST_TERMS) break;
    const parts = name.replace('()', '').split(QUALIFIER);
    if (parts.length < 2 && !IS_MARKED.test(name)) continue;
    if (words.length === 1) named(parts.at(-1) ?? '');
    else mentioned(parts.at(-1) ?? '');
  }
  for (const pair of pairsOf(read)) {
    if (definitions.size >= MOST_TERMS) break;
    for (const name of [pair, capitalized(pair)]) offer(definitionTerm(name), PAIR, 'mentioned');
  }
  return [...definitions.values()];
}

/** Each two words that follow each other, joined: what a sentence is about is often called so, as `JsonReader` in "how the JSON reader works". */
function pairsOf(text: string): readonly string[] {
  const pairs: string[] = [];
  let before = '';
  scanWords(withoutPossessives(text), (word) => {
    const next = isStopWord(word) ? '' : word.toLowerCase();
    if (before !== '' && next !== '') pairs.push(before + next);
    before = next;
  });
  return pairs;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
