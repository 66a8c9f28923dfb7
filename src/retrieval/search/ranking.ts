import type { LiveSegment } from '../segments/liveSegment.ts';
import { Scorer, type WeightedList } from './scorer.ts';
import type { TopK } from './topK.ts';

// Documents that are bounded together: few enough for the bounds to be low, enough for bounding to cost little. A query of many
// terms has bounds that are high whatever the window.
const WINDOW = 2048;
const WIDE_WINDOW = 16_384;
const MANY_TERMS = 50;

/** A document of one of the segments. */
export interface Found {
  readonly live: LiveSegment;
  readonly document: number;
}

/** Numbers of the whole index, which BM25 needs. */
export interface Totals {
  readonly documents: number;
  /** Words of the mean document. */
  readonly averageLength: number;
}

/** The weight of a term that `holders` of the documents hold. */
export function termWeight(holders: number, { documents }: Totals): number {
  return Math.log(1 + (documents - holders + 0.5) / (holders + 0.5));
}

/**
 * Offers the documents of segments that can be among the best, with their exact scores. Windows of documents whose bounds
 * do not reach the threshold are passed over, and in the others the terms that cannot reach it by themselves are looked up
 * for the candidates of the rest alone (MaxScore of Turtle and Flood, 1995, with the bounds of blocks of Ding and Suel, 2011).
 */
export class Ranker {
  readonly #totals: Totals;
  readonly #best: TopK<Found>;
  /** One for each term, which it reads in one segment after the other. */
  readonly #pool: Scorer[] = [];
  /** Those of the segment, the lowest bound first. */
  #scorers: Scorer[] = [];
  /** The first so many together stay below the threshold: a document that holds no other is no candidate. */
  #optional = 0;
  #optionalBound = 0;
  /** Of the documents of a window: sums of scores, and a bit for each that has one. */
  #sums = new Float64Array(WINDOW);
  #bits = new Uint32Array(WINDOW / 32);

  constructor(totals: Totals, best: TopK<Found>) {
    this.#totals = totals;
    this.#best = best;
  }

  /** Ranks the documents of a segment; `excluded` is 1 for each that is not to be offered. */
  rank(live: LiveSegment, terms: readonly WeightedList[], excluded: Uint8Array): void {
    this.#open(live, terms);
    const count = live.segment.lengths.length;
    const size = this.#sums.length;
    for (let from = excluded.indexOf(0); from >= 0 && from < count; ) {
      const to = Math.min(from + size, count);
      let sum = 0;
      for (const scorer of this.#scorers) {
        scorer.setBound(from, to);
        sum += scorer.bound;
      }
      if (sum > 0 && sum >= this.#best.threshold) this.#rankWindow(live, excluded, from, to);
      from = excluded[to] === 0 ? to : excluded.indexOf(0, to);
    }
  }

  #open({ segment }: LiveSegment, terms: readonly WeightedList[]): void {
    while (this.#pool.length < terms.length) this.#pool.push(new Scorer(this.#totals.averageLength));
    this.#scorers = this.#pool.slice(0, terms.length);
    for (const [at, term] of terms.entries()) this.#scorers[at]?.open(segment, term);
    if (terms.length > MANY_TERMS && this.#sums.length < WIDE_WINDOW) {
      [this.#sums, this.#bits] = [new Float64Array(WIDE_WINDOW), new Uint32Array(WIDE_WINDOW / 32)];
    }
  }

  #rankWindow(live: LiveSegment, excluded: Uint8Array, from: number, to: number): void {
    const scorers = this.#scorers;
    sortByBound(scorers);
    const { threshold } = this.#best;
    [this.#optional, this.#optionalBound] = [0, 0];
    for (const { bound } of scorers) {
      if (this.#optionalBound + bound >= threshold) break;
      this.#optionalBound += bound;
      this.#optional += 1;
    }
    for (let at = this.#optional; at < scorers.length; at += 1) {
      const scorer = scorers[at];
      if (scorer !== undefined && scorer.bound > 0) scorer.addTo(this.#sums, this.#bits, from, to);
    }
    this.#offerSums(live, excluded, from);
  }

  #offerSums(live: LiveSegment, excluded: Uint8Array, from: number): void {
    const [sums, bits] = [this.#sums, this.#bits];
    let least = this.#best.threshold - this.#optionalBound;
    for (let word = 0; word < bits.length; word += 1) {
      let left = bits[word] ?? 0;
      if (left === 0) continue;
      bits[word] = 0;
      for (; left !== 0; left &= left - 1) {
        const place = 32 * word + 31 - Math.clz32(left & -left);
        const sum = sums[place] ?? 0;
        sums[place] = 0;
        if (sum < least || excluded[from + place] === 1) continue;
        if (this.#offer(live, from + place, sum)) least = this.#best.threshold - this.#optionalBound;
      }
    }
  }

  /** Adds what the optional terms say to the sum of the others, as long as that can be enough; gives whether it was. */
  #offer(live: LiveSegment, document: number, known: number): boolean {
    const { threshold } = this.#best;
    let rest = this.#optionalBound;
    let sum = known;
    for (let at = this.#optional - 1; at >= 0 && sum + rest >= threshold; at -= 1) {
      const scorer = this.#scorers[at];
      if (scorer === undefined || scorer.bound === 0) break;
      rest -= scorer.bound;
      const { list } = scorer;
      if (list.advance(document) !== document) continue;
      sum += scorer.score(list.frequencies[list.at] ?? 0, live.segment.lengths[document] ?? 0);
    }
    if (sum < threshold) return false;
    this.#best.offer({ live, document }, sum);
    return true;
  }
}

/** From window to window the order hardly changes. */
function sortByBound(scorers: Scorer[]): void {
  for (let at = 1; at < scorers.length; at += 1) {
    const scorer = scorers[at];
    if (scorer === undefined) continue;
    let place = at;
    for (let before = scorers[place - 1]; before !== undefined && before.bound > scorer.bound; ) {
      scorers[place] = before;
      place -= 1;
      before = scorers[place - 1];
    }
    scorers[place] = scorer;
  }
}
