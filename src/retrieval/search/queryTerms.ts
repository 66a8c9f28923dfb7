import type { LiveSegment } from '../segments/liveSegment.ts';
import { NO_DOCUMENT, PostingList } from '../segments/postingList.ts';
import { countPostings } from '../segments/postings.ts';
import { termWeight, type Totals } from './ranking.ts';
import type { WeightedList } from './scorer.ts';
import type { TermPrefix, TermQuery } from './termQuery.ts';

// A half word stands for those of its terms that most documents hold: the others tell little, and each costs a list.
const MOST_EXPANSIONS = 32;
// How much more a rare term says about where the best documents are; measured, and of 1, 2 and 3 the best by little.
const RARITY = 3;

/** A term in each segment: where its postings begin, or -1; and how many documents hold it in all. */
interface FoundTerm {
  readonly term: string;
  readonly starts: readonly number[];
  readonly holders: number;
}

/** A segment that has terms of a query. */
interface SegmentTerms {
  readonly live: LiveSegment;
  readonly lists: readonly WeightedList[];
}

/**
 * Finds the posting lists of a query's terms in each segment, with what a term weighs in the whole index. The segments come
 * in the order of what they promise: the better the first documents are, the more of the others is passed over.
 */
export function findTerms(segments: readonly LiveSegment[], query: TermQuery, totals: Totals): readonly SegmentTerms[] {
  const found = segments.map((live) => ({ live, lists: [] as WeightedList[], promise: 0 }));
  const add = ({ starts }: FoundTerm, holders: number): void => {
    const weight = termWeight(holders, totals);
    const promise = weight ** RARITY;
    for (const [at, start] of starts.entries()) {
      const own = found[at];
      if (own === undefined || start < 0) continue;
      const { postings, lengths } = own.live.segment;
      own.lists.push({ start, weight });
      own.promise += promise * (countPostings(postings, start) / lengths.length);
    }
  };
  for (const term of query.terms) {
    const known = findTerm(segments, term);
    if (known.holders > 0) add(known, known.holders);
  }
  const taken = new Set(query.terms);
  for (const prefix of query.prefixes) {
    // They all stand for one word, and weigh what a word does that as many documents hold.
    const expansions = expand(segments, prefix).filter(({ term }) => !taken.has(term));
    const holders = expansions.reduce((sum, { holders: own }) => sum + own, 0);
    for (const expansion of expansions) {
      taken.add(expansion.term);
      add(expansion, Math.min(holders, totals.documents));
    }
  }
  return found.filter(({ lists }) => lists.length > 0).sort((a, b) => b.promise - a.promise);
}

function findTerm(segments: readonly LiveSegment[], term: string): FoundTerm {
  const bytes = Buffer.from(term);
  let holders = 0;
  const starts = segments.map((live) => {
    const start = live.segment.dictionary.find(bytes);
    if (start >= 0) holders += live.countHolders(start);
    return start;
  });
  return { term, starts, holders };
}

/** 1 for each document that a query cannot find: removed, of another path, or without a required term. */
export function excludedDocuments(live: LiveSegment, { required, paths }: TermQuery): Uint8Array {
  if (required.length === 0 && paths.acceptsAll) return live.removed;
  const excluded = live.removed.slice();
  if (!paths.acceptsAll) {
    for (const { path, firstDocument, documentCount } of live.segment.sources) {
      if (documentCount > 0 && !paths.accepts(path)) excluded.fill(1, firstDocument, firstDocument + documentCount);
    }
  }
  for (const term of required) excludeOthers(live, term, excluded);
  return excluded;
}

function excludeOthers({ segment }: LiveSegment, term: string, excluded: Uint8Array): void {
  const start = segment.dictionary.find(Buffer.from(term));
  let next = 0;
  if (start >= 0) {
    const list = new PostingList();
    list.open(segment.postings, start);
    for (let hasMore = list.advance(0) !== NO_DOCUMENT; hasMore; hasMore = list.nextBlock()) {
      for (let at = 0; at < list.size; at += 1) {
        const document = list.documents[at] ?? 0;
        if (document > next) excluded.fill(1, next, document);
        next = document + 1;
      }
    }
  }
  excluded.fill(1, next);
}

/** The terms of a prefix that most documents hold. They do not depend on how the documents lie in segments. */
function expand(segments: readonly LiveSegment[], { start, stems }: TermPrefix): readonly FoundTerm[] {
  if (start === '') return [];
  const counts = new Map<string, number>();
  for (const { segment } of segments) {
    const count = (term: string, at: number): void =>
      void counts.set(term, (counts.get(term) ?? 0) + countPostings(segment.postings, at));
    for (const { term, start: at } of segment.dictionary.withPrefix(start)) count(term, at);
    for (const term of stems) {
      const at = term.startsWith(start) ? -1 : segment.dictionary.find(Buffer.from(term));
      if (at >= 0) count(term, at);
    }
  }
  // The counts are with removed documents, so none is too low: once they are below the last that is taken, nothing better comes.
  const candidates = [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
  let best: FoundTerm[] = [];
  for (const [term, most] of candidates) {
    const last = best[MOST_EXPANSIONS - 1];
    if (last !== undefined && most < last.holders) break;
    const found = findTerm(segments, term);
    if (found.holders === 0) continue;
    best.push(found);
    best.sort((a, b) => b.holders - a.holders || (a.term < b.term ? -1 : 1));
    best = best.slice(0, MOST_EXPANSIONS);
  }
  return best;
}
