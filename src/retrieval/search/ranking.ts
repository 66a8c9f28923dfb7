import type { LiveSegment } from '../segments/liveSegment.ts';
import { RANGE } from '../kernel/assembly/kernelLayout.ts';
import { levelParts } from '../segments/scoreLevels.ts';
import { Scorer, type WeightedList } from './scorer.ts';
import type { TopK } from './topK.ts';

/** A document in one of the segments. */
export interface Found {
  readonly live: LiveSegment;
  readonly document: number;
  /** The bits of the terms that it contains. */
  readonly terms: number;
}

/** Statistics of the whole index for BM25. */
export interface IndexTotals {
  readonly documents: number;
  /** The mean length of documents, in words. */
  readonly averageLength: number;
}

/** The weight of a term that occurs in `holders` of the documents. */
export function termWeight(holders: number, { documents }: IndexTotals): number {
  return Math.log(1 + (documents - holders + 0.5) / (holders + 0.5));
}

/**
 * Offers the documents that can be among the best, with their exact scores. Ranges of documents whose upper bounds do not reach the
 * threshold are skipped. In the others, terms that cannot reach it by themselves are looked up only for the candidates of the
 * remaining terms (MaxScore of Turtle and Flood, 1995, within each range).
 */
export class Ranker {
  readonly #averageLength: number;
  readonly #parts: Float64Array;
  readonly #best: TopK<Found>;
  /** One per term, reused for each segment. */
  readonly #pool: Scorer[] = [];
  /** The highest sum of scores in each range of the segment. */
  #bounds = new Float64Array(0);
  /** The sums of scores of a range's documents. */
  readonly #sums = new Float64Array(RANGE);
  /** Terms of the range that together stay below the threshold; a document without any other term is no candidate. */
  readonly #optional: Scorer[] = [];
  /** The other terms, each with a bit for each document of the range that contains it. */
  readonly #others: Scorer[] = [];
  readonly #holders: number[] = [];

  constructor({ averageLength }: IndexTotals, best: TopK<Found>) {
    this.#averageLength = averageLength;
    this.#parts = levelParts(averageLength);
    this.#best = best;
  }

  /** Ranks the documents of a segment. @param excluded 1 for each document that must not be offered; undefined if there is none. */
  rank(live: LiveSegment, terms: readonly WeightedList[], excluded: Uint8Array | undefined): void {
    const ranges = Math.ceil(live.segment.lengths.length / RANGE);
    if (this.#bounds.length < ranges) this.#bounds = new Float64Array(ranges);
    else this.#bounds.fill(0);
    const bounds = this.#bounds;
    const scorers = this.#open(live, terms);
    let { threshold } = this.#best;
    let next = 0; // the first document from here on that may be offered
    for (let range = 0; range < ranges; range += 1) {
      const bound = bounds[range] ?? 0;
      if (bound < threshold || bound === 0) continue;
      const from = range * RANGE;
      if (next < from) next = firstLeft(excluded, from);
      if (next < 0) return;
      if (next >= from + RANGE) continue;
      this.#rankRange(live, scorers, excluded, range);
      ({ threshold } = this.#best);
    }
  }

  /** Common terms first, because scoring their documents costs most and contributes least. */
  #open({ segment }: LiveSegment, terms: readonly WeightedList[]): readonly Scorer[] {
    while (this.#pool.length < terms.length) this.#pool.push(new Scorer(this.#averageLength, this.#parts));
    const scorers = this.#pool.slice(0, terms.length);
    const inOrder = terms.toSorted((a, b) => a.weight - b.weight);
    for (const [at, term] of inOrder.entries()) scorers[at]?.open(segment, term, this.#bounds);
    return scorers;
  }

  #rankRange(live: LiveSegment, scorers: readonly Scorer[], excluded: Uint8Array | undefined, range: number): void {
    const { threshold } = this.#best;
    const [optional, sums, from] = [this.#optional, this.#sums, range * RANGE];
    let optionalCount = 0;
    let optionalBound = 0;
    let otherCount = 0;
    let bits = 0;
    for (const scorer of scorers) {
      const bound = scorer.boundOf(range);
      if (bound === 0) continue;
      if (optionalBound + bound < threshold) {
        optionalBound += bound;
        optional[optionalCount++] = scorer;
      } else {
        const holders = scorer.addTo(sums, from);
        this.#others[otherCount] = scorer;
        this.#holders[otherCount++] = holders;
        bits |= holders;
      }
    }
    for (; bits !== 0; bits &= bits - 1) {
      const place = 31 - Math.clz32(bits & -bits);
      const document = from + place;
      let sum = sums[place] ?? 0;
      sums[place] = 0;
      if (excluded?.[document] === 1) continue;
      // Scores of optional terms are added as long as the threshold can still be reached.
      let rest = optionalBound;
      let terms = 0;
      for (let at = optionalCount - 1; at >= 0 && sum + rest >= this.#best.threshold; at -= 1) {
        const scorer = optional[at];
        rest -= scorer?.boundOf(range) ?? 0;
        const score = scorer?.score(document) ?? 0;
        if (score > 0) terms |= scorer?.bit ?? 0;
        sum += score;
      }
      if (sum + rest < this.#best.threshold) continue;
      for (let at = 0; at < otherCount; at += 1)
        if ((((this.#holders[at] ?? 0) >>> place) & 1) === 1) terms |= this.#others[at]?.bit ?? 0;
      this.#best.offer({ live, document, terms }, sum);
    }
  }
}

/** The first document from `from` on that is not excluded; -1 after the last. */
function firstLeft(excluded: Uint8Array | undefined, from: number): number {
  return excluded === undefined || excluded[from] === 0 ? from : excluded.indexOf(0, from);
}
