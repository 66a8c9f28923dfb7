import type { LiveSegment } from '../segments/liveSegment.ts';
import { countPostings } from '../segments/postings.ts';
import { termWeight, type IndexTotals } from './ranking.ts';

// More than a search looks up, even if it corrects words.
const MOST_TERMS = 10_000;

/** A term, with the offset of its postings in each segment that contains it. */
export class FoundTerm {
  readonly term: string;
  /** The numbers of the segments. */
  readonly segments: number[] = [];
  readonly starts: number[] = [];
  /** The number of postings, including removed documents. */
  count = 0;
  #holders: number | undefined;

  constructor(term: string) {
    this.term = term;
  }

  add(segment: number, { segment: { postings } }: LiveSegment, start: number): void {
    this.segments.push(segment);
    this.starts.push(start);
    this.count += countPostings(postings, start);
  }

  /** The number of documents that contain it. @param all the segments in which it was found */
  countHolders(all: readonly LiveSegment[]): number {
    this.#holders ??= this.starts.reduce((sum, start, at) => {
      const live = all[this.segments[at] ?? 0];
      return sum + (live?.countHolders(start) ?? 0);
    }, 0);
    return this.#holders;
  }
}

/**
 * The segments as searches see them until one changes. The terms that were looked up are kept, because several steps of a search, and the
 * next search while a query is typed, need the same ones.
 */
export class SearchedSegments {
  readonly all: readonly LiveSegment[];
  readonly totals: IndexTotals;
  readonly #terms = new Map<string, FoundTerm>();

  constructor(all: readonly LiveSegment[]) {
    this.all = all;
    const documents = all.reduce((sum, { liveCount }) => sum + liveCount, 0);
    const words = all.reduce((sum, { liveLength }) => sum + liveLength, 0);
    this.totals = { documents, averageLength: words / documents || 1 };
  }

  find(term: string): FoundTerm {
    let found = this.#terms.get(term);
    if (found !== undefined) return found;
    found = new FoundTerm(term);
    const bytes = Buffer.from(term);
    for (const [at, live] of this.all.entries()) {
      const start = live.segment.dictionary.find(bytes);
      if (start >= 0) found.add(at, live, start);
    }
    if (this.#terms.size >= MOST_TERMS) this.#terms.clear();
    this.#terms.set(term, found);
    return found;
  }

  /** The number of documents that contain a term. */
  holdersOf(term: string): number {
    return this.find(term).countHolders(this.all);
  }

  /** The weight of a term in a ranking; 0 for one that no document contains. */
  weightOf(term: string): number {
    const holders = this.holdersOf(term);
    return holders === 0 ? 0 : termWeight(holders, this.totals);
  }
}
