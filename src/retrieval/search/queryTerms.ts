import type { LiveSegment } from '../segments/liveSegment.ts';
import { NO_DOCUMENT, PostingList } from '../segments/postingList.ts';
import { countPostings } from '../segments/postings.ts';
import { inflectionTerms } from '../tokenizer/proseStems.ts';
import { termWeight } from './ranking.ts';
import type { WeightedList } from './scorer.ts';
import { FoundTerm, type SearchedSegments } from './searchedSegments.ts';
import type { TermPrefix, TermQuery } from './termQuery.ts';
import { type Scored, TopK } from './topK.ts';

// A prefix expands to those terms that most documents contain; the others affect ranking little, and each costs a posting list.
const MOST_EXPANSIONS = 32;
// How much more a rare term indicates where the best documents are; measured: of 1, 2 and 3 the best by a little.
const RARITY = 3;
// For each result, it is known which of the first terms it contains; longer queries are usually pasted.
export const MOST_BITS = 31;

// A word that is still being typed is mostly complete if it is one that the index contains. Measured on questions without their last two
// letters, and on whole ones, which are ranked as if nothing followed.
const CONTINUED = 0.05;

// The exact word counts separately too, so its other forms count less.
const INFLECTION = 0.5;

// How much a related term counts, times its similarity; measured by `bench/fileRanking.ts`.
const RELATED = 0.5;

/** A segment that contains terms of a query. */
interface SegmentTerms {
  readonly live: LiveSegment;
  readonly lists: readonly WeightedList[];
}

/**
 * Finds the posting lists of a query's terms in each segment, with the weight of each term in the whole index. The most promising
 * segments come first: the better the first documents are, the more of the others can be skipped.
 */
export function findTerms(segments: SearchedSegments, query: TermQuery): readonly SegmentTerms[] {
  const { all, totals } = segments;
  const bySegment = all.map((live) => ({ live, lists: [] as WeightedList[], promise: 0 }));
  const add = ({ segments: holding, starts }: FoundTerm, holders: number, { factor = 1, bit = 0 } = {}): void => {
    const weight = factor * termWeight(holders, totals);
    const promise = weight ** RARITY;
    for (const [at, start] of starts.entries()) {
      const terms = bySegment[holding[at] ?? 0];
      if (terms === undefined) continue;
      const { postings, lengths } = terms.live.segment;
      terms.lists.push({ start, weight, bit });
      terms.promise += promise * (countPostings(postings, start) / lengths.length);
    }
  };
  for (const [at, term] of query.terms.entries()) {
    const holders = segments.holdersOf(term);
    if (holders > 0) add(segments.find(term), holders, { bit: at < MOST_BITS ? 1 << at : 0 });
  }
  for (const { term, factor } of query.definitions) {
    const holders = segments.holdersOf(term);
    if (holders > 0) add(segments.find(term), holders, { factor });
  }
  for (const term of inflectionTerms(query.words, segments))
    add(segments.find(term), segments.holdersOf(term), { factor: INFLECTION });
  for (const { term, to, similarity } of query.related) {
    const holders = segments.holdersOf(term);
    if (holders === 0) continue;
    // A rare related term must not count more than the word in the query.
    const share = Math.min(1, (segments.weightOf(to) || Infinity) / termWeight(holders, totals));
    add(segments.find(term), holders, { factor: RELATED * similarity * share });
  }
  const used = new Set(query.terms);
  for (const prefix of query.prefixes) {
    // Together they represent one word, and have the weight of a word that occurs in as many documents.
    const expansions = expand(segments, prefix).filter(({ item }) => !used.has(item.term));
    const holders = expansions.reduce((sum, { score }) => sum + score, 0);
    const isWord = prefix.whole !== undefined && segments.holdersOf(prefix.whole) > 0;
    for (const { item } of expansions) {
      used.add(item.term);
      add(item, Math.min(holders, totals.documents), { factor: isWord ? CONTINUED : 1 });
    }
  }
  return bySegment.filter(({ lists }) => lists.length > 0).sort((a, b) => b.promise - a.promise);
}

/** 1 for each document that a query cannot find: removed, of another path, or without a required term. Undefined if there is none. */
export function excludedDocuments(
  live: LiveSegment,
  { required, excluded: unwanted, paths }: TermQuery,
): Uint8Array | undefined {
  if (required.length === 0 && unwanted.length === 0 && paths.acceptsAll)
    return live.removedSources.size === 0 ? undefined : live.removed;
  const excluded = live.removed.slice();
  if (!paths.acceptsAll) {
    for (const { path, firstDocument, documentCount } of live.segment.sources) {
      if (documentCount > 0 && !paths.accepts(path)) excluded.fill(1, firstDocument, firstDocument + documentCount);
    }
  }
  for (const term of required) excludeOthers(live, term, excluded);
  for (const term of unwanted) for (const document of documentsWith(live, term)) excluded[document] = 1;
  return excluded;
}

/** The documents that contain a term, in ascending order, also those that were removed. */
export function* documentsWith({ segment }: LiveSegment, term: string): Generator<number, void> {
  const start = segment.dictionary.find(Buffer.from(term));
  if (start < 0) return;
  const list = new PostingList();
  list.open(segment.postings, start);
  for (let hasMore = list.advance(0) !== NO_DOCUMENT; hasMore; hasMore = list.nextBlock()) {
    for (let at = 0; at < list.size; at += 1) yield list.documents[at] ?? 0;
  }
}

function excludeOthers(live: LiveSegment, term: string, excluded: Uint8Array): void {
  let next = 0;
  for (const document of documentsWith(live, term)) {
    if (document > next) excluded.fill(1, next, document);
    next = document + 1;
  }
  excluded.fill(1, next);
}

/** The terms of a prefix that most documents contain, with their document frequencies. Independent of how documents are split into segments. */
function expand(segments: SearchedSegments, prefix: TermPrefix): readonly Scored<FoundTerm>[] {
  const terms = findPrefix(segments, prefix);
  // The counts include removed documents, so they are upper bounds.
  const first = new TopK<FoundTerm>(MOST_EXPANSIONS);
  for (const term of terms) first.offer(term, term.count);
  const counted = first.sorted();
  const least =
    counted.length < MOST_EXPANSIONS ? 1 : Math.min(...counted.map(({ item }) => item.countHolders(segments.all)));
  const best = new TopK<FoundTerm>(MOST_EXPANSIONS, (a, b) => (a.term < b.term ? -1 : 1));
  for (const term of terms) {
    if (term.count < least) continue;
    const holders = term.countHolders(segments.all);
    if (holders > 0) best.offer(term, holders);
  }
  return best.sorted();
}

function findPrefix(segments: SearchedSegments, { start, stems }: TermPrefix): readonly FoundTerm[] {
  if (start === '') return [];
  const byTerm = new Map<string, FoundTerm>();
  for (const [at, live] of segments.all.entries()) {
    const { dictionary } = live.segment;
    for (const { term, start: place } of dictionary.withPrefix(start)) {
      let expansion = byTerm.get(term);
      if (expansion === undefined) byTerm.set(term, (expansion = new FoundTerm(term)));
      expansion.add(at, live, place);
    }
  }
  const others = stems.filter((term) => !term.startsWith(start)).map((term) => segments.find(term));
  return [...byTerm.values(), ...others];
}
