import type { LiveSegment } from './liveSegment.ts';
import { countPostings, NO_DOCUMENT, PostingList } from './postings.ts';
import { termWeight, type Totals, type WeightedList } from './ranking.ts';
import type { TermPrefix, TermQuery } from './termQuery.ts';

// A half word stands for those of its terms that most documents hold: the others tell little, and each costs a list.
const MOST_EXPANSIONS = 32;

interface HeldTerm {
  readonly term: string;
  readonly holders: number;
}

/** Finds the posting lists of a query's terms in each segment, with what a term weighs in the whole index. */
export function findTerms(segments: readonly LiveSegment[], query: TermQuery, totals: Totals): WeightedList[][] {
  const lists: WeightedList[][] = segments.map(() => []);
  const add = (term: string, weight: number): void => {
    for (const [at, { segment }] of segments.entries()) {
      const place = segment.dictionary.find(term);
      if (place !== undefined) lists[at]?.push({ start: place.start, weight });
    }
  };
  for (const term of query.terms) {
    const holders = countHolders(segments, term);
    if (holders > 0) add(term, termWeight(holders, totals));
  }
  const taken = new Set(query.terms);
  for (const prefix of query.prefixes) {
    // They all stand for one word, and weigh what a word does that as many documents hold.
    const expansions = expand(segments, prefix).filter(({ term }) => !taken.has(term));
    const holders = expansions.reduce((sum, { holders: own }) => sum + own, 0);
    const weight = termWeight(Math.min(holders, totals.documents), totals);
    for (const { term } of expansions) {
      taken.add(term);
      add(term, weight);
    }
  }
  return lists;
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
  const place = segment.dictionary.find(term);
  let next = 0;
  if (place !== undefined) {
    const list = new PostingList(segment.postings, place.start, segment.lengths);
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

function countHolders(segments: readonly LiveSegment[], term: string): number {
  let holders = 0;
  for (const live of segments) {
    const place = live.segment.dictionary.find(term);
    if (place !== undefined) holders += live.countHolders(place.start);
  }
  return holders;
}

/** The terms of a prefix that most documents hold. They do not depend on how the documents lie in segments. */
function expand(segments: readonly LiveSegment[], { start, stems }: TermPrefix): readonly HeldTerm[] {
  if (start === '') return [];
  const counts = new Map<string, number>();
  for (const { segment } of segments) {
    const count = (term: string, at: number): void =>
      void counts.set(term, (counts.get(term) ?? 0) + countPostings(segment.postings, at));
    for (const { term, start: at } of segment.dictionary.withPrefix(start)) count(term, at);
    for (const term of stems) {
      const place = term.startsWith(start) ? undefined : segment.dictionary.find(term);
      if (place !== undefined) count(term, place.start);
    }
  }
  // The counts are with removed documents, so none is too low: once they are below the last that is taken, nothing better comes.
  const candidates = [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
  let best: HeldTerm[] = [];
  for (const [term, most] of candidates) {
    const last = best[MOST_EXPANSIONS - 1];
    if (last !== undefined && most < last.holders) break;
    const holders = countHolders(segments, term);
    if (holders === 0) continue;
    best.push({ term, holders });
    best.sort((a, b) => b.holders - a.holders || (a.term < b.term ? -1 : 1));
    best = best.slice(0, MOST_EXPANSIONS);
  }
  return best;
}
