import type { PathFilter } from './pathFilter.ts';
import type { Query } from './query.ts';
import { hasJoinedWords, type WordAnalyzer } from '../tokenizer/words.ts';

const LEAST_PREFIX = 3;

/** A query in terms of the index. */
export interface TermQuery {
  /** Terms that rank: what holds one of them, or one of a prefix, is found. */
  readonly terms: readonly string[];
  readonly prefixes: readonly TermPrefix[];
  /** Terms of which what is found holds each. */
  readonly required: readonly string[];
  readonly paths: PathFilter;
}

/** The terms that a prefix expands to: those that begin with it, and stems of words that begin with it and are shorter. */
export interface TermPrefix {
  /** Empty where it is too short to tell anything. */
  readonly start: string;
  readonly stems: readonly string[];
}

export function toTermQuery({ text, prefixes, phrases, paths }: Query, analyzer: WordAnalyzer): TermQuery {
  return {
    terms: analyzer.queryTerms(text),
    prefixes: prefixes.map((prefix) => toTermPrefix(prefix, analyzer)),
    required: [...new Set(phrases.flatMap((phrase) => analyzer.allTerms(phrase)))],
    paths,
  };
}

function toTermPrefix(prefix: string, analyzer: WordAnalyzer): TermPrefix {
  // Of a run that is indexed by pairs the last character begins the pair that is not whole; the others are terms.
  if (hasJoinedWords(prefix)) return { start: Array.from(prefix).at(-1) ?? '', stems: [] };
  // So many words begin with one letter or two that they tell nothing.
  const start = prefix.replace(/^[_$]+/, '').toLowerCase();
  return start.length < LEAST_PREFIX ? { start: '', stems: [] } : { start, stems: analyzer.stemsFrom(start) };
}
