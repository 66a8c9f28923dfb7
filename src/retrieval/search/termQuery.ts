import type { PathFilter } from './pathFilter.ts';
import { withoutPositions } from './fileMentions.ts';
import type { Query } from './query.ts';
import { definitionTerms, type DefinitionQuery } from './definitionQuery.ts';
import { relatedTerms } from './relatedTerms.ts';
import { foldLetters } from '../tokenizer/foldLetters.ts';
import { withoutSigns } from '../tokenizer/signedNames.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { hasJoinedWords, type WordAnalyzer } from '../tokenizer/wordAnalyzer.ts';

const LEAST_PREFIX = 3;
// Longer text is pasted, and mostly code.
const MOST_WORDS = 40;

/** A query as terms of the index. */
export interface TermQuery {
  /** Ranking terms: documents that contain at least one of them, or one of a prefix, are found. */
  readonly terms: readonly string[];
  /** The words of the query, for their stems in other languages than English. */
  readonly words: readonly string[];
  /** Definitions of names in the query, which count more than other terms. */
  readonly definitions: readonly DefinitionQuery[];
  /** Terms that code uses in place of those of the query, which count less. */
  readonly related: readonly RelatedQuery[];
  readonly prefixes: readonly TermPrefix[];
  /** Required terms: results contain all of them. */
  readonly required: readonly string[];
  /** Terms that no result contains. */
  readonly excluded: readonly string[];
  readonly paths: PathFilter;
}

/** A term that is related to one of a query. */
interface RelatedQuery {
  readonly term: string;
  /** The term of the query. */
  readonly to: string;
  /** From 0 to 1. */
  readonly similarity: number;
}

/** The expansion of a prefix: terms that begin with it, and shorter stems of words that begin with it. */
export interface TermPrefix {
  /** Empty if the prefix is too short to be meaningful. */
  readonly start: string;
  readonly stems: readonly string[];
  /** The term of a word that is still being typed, and may be complete. */
  readonly whole?: string | undefined;
}

export function toTermQuery(
  { text, prefixes, typed, phrases, excluded, paths }: Query,
  analyzer: WordAnalyzer,
): TermQuery {
  const plain = withoutSigns(text);
  const read = withoutPositions(plain);
  return {
    terms: analyzer.queryTerms(read),
    words: wordsOf(read),
    definitions: definitionTerms(plain),
    related: [],
    prefixes: prefixes.map((prefix) => ({
      ...toTermPrefix(prefix, analyzer),
      whole: prefix === typed ? analyzer.termsOf(prefix)[0] : undefined,
    })),
    required: [...new Set(phrases.flatMap((phrase) => analyzer.allTerms(phrase)))],
    // The first term of a word is the word itself.
    excluded: excluded.flatMap((word) => analyzer.termsOf(word).slice(0, 1)),
    paths,
  };
}

/** The query with the terms that are related to its own. Each counts once, for the closest of them. */
export function withRelated(query: TermQuery): TermQuery {
  const terms = new Set(query.terms);
  const related = new Map<string, RelatedQuery>();
  for (const to of query.terms.slice(0, MOST_WORDS)) {
    for (const { term, similarity } of relatedTerms(to)) {
      if (terms.has(term) || (related.get(term)?.similarity ?? 0) >= similarity) continue;
      related.set(term, { term, to, similarity });
    }
  }
  return { ...query, related: [...related.values()] };
}

function wordsOf(text: string): readonly string[] {
  const words = new Set<string>();
  scanWords(text, (word) => {
    if (words.size < MOST_WORDS) words.add(word);
  });
  return [...words];
}

function toTermPrefix(prefix: string, analyzer: WordAnalyzer): TermPrefix {
  // In a run that is indexed by character pairs, the last character starts an incomplete pair; the other pairs are terms.
  if (hasJoinedWords(prefix)) return { start: Array.from(prefix).at(-1) ?? '', stems: [] };
  // Too many words begin with the same one or two letters for such a prefix to be meaningful.
  const start = foldLetters(prefix.replace(/^[_$]+/, '')).toLowerCase();
  return start.length < LEAST_PREFIX ? { start: '', stems: [] } : { start, stems: analyzer.stemsFrom(start) };
}
