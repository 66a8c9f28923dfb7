import type { LiveSegment } from './liveSegment.ts';
import { PostingList } from './postings.ts';
import type { TopK } from './topK.ts';

// BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 above the usual 1.2, which ranks
// better once the names of definitions are weighted.
const K1 = 2;
const B = 0.85;
// Documents that are bounded together: few enough for the bounds to be low, enough for bounding to cost little. A query of many
// terms has bounds that are high whatever the window.
const WINDOW = 1024;
const WIDE_WINDOW = 16_384;
const MANY_TERMS = 50;
// Scores are summed as whole numbers of this fraction, so that a sum does not depend on the order of its parts.
const UNIT = 2 ** 32;

/** A document of one of the segments. */
export interface Found {
  readonly live: LiveSegment;
  readonly document: number;
}

/** A term of the query in one segment. */
export interface WeightedList {
  readonly start: number;
  readonly weight: number;
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

/** A score as people know it. */
export function toScore(units: number): number {
  return units / UNIT;
}

class Scorer {
  readonly list: PostingList;
  readonly #factor: number;
  readonly #base: number;
  readonly #slope: number;
  /** The highest score in the window. */
  bound = 0;
  #boundBlock = 0;

  constructor(list: PostingList, weight: number, averageLength: number) {
    this.list = list;
    this.#factor = weight * (K1 + 1) * UNIT;
    this.#base = K1 * (1 - B);
    this.#slope = (K1 * B) / averageLength;
  }

  score(frequency: number, length: number): number {
    return Math.round((this.#factor * frequency) / (frequency + this.#base + this.#slope * length));
  }

  /** Bounds the scores between two documents from what the blocks say, mostly without decoding one. */
  setBound({ from, to, size }: Window): void {
    const { list } = this;
    const { lasts, blockCount, highest, shortest } = list;
    let block = this.#boundBlock;
    while (block < blockCount && (lasts[block] ?? 0) < from) block += 1;
    this.#boundBlock = block;
    this.bound = 0;
    // A block of a rare term reaches over many windows, of which few hold the term: looking costs less than scoring them.
    const before = block === 0 ? -1 : (lasts[block - 1] ?? 0);
    if (block < blockCount && (lasts[block] ?? 0) - before > size && list.advance(from) >= to) return;
    for (; block < blockCount && (block === 0 || (lasts[block - 1] ?? 0) + 1 < to); block += 1) {
      // One more than the score, since another order of rounding could give that.
      const bound = this.score(highest[block] ?? 0, shortest[block] ?? 0) + 1;
      if (bound > this.bound) this.bound = bound;
    }
  }
}

/** What is ranked, and the documents that are bounded together. */
interface Window {
  readonly live: LiveSegment;
  readonly excluded: Uint8Array;
  /** Sums of scores, and a bit for each document that has one. */
  readonly sums: Float64Array;
  readonly bits: Uint32Array;
  readonly size: number;
  from: number;
  to: number;
}

/**
 * Offers the documents of a segment that can be among the best, with their exact scores. Windows of documents whose bounds
 * do not reach the threshold are passed over, and in the others the terms that cannot reach it by themselves are looked up
 * for the candidates of the rest alone (MaxScore of Turtle and Flood, 1995, with the bounds of blocks of Ding and Suel, 2011).
 *
 * @param excluded 1 for each document that is not to be offered.
 */
export function rankSegment(
  live: LiveSegment,
  terms: readonly WeightedList[],
  excluded: Uint8Array,
  totals: Totals,
  best: TopK<Found>,
): void {
  const { postings, lengths } = live.segment;
  const scorers = terms.map(
    ({ start, weight }) => new Scorer(new PostingList(postings, start, lengths), weight, totals.averageLength),
  );
  const size = scorers.length > MANY_TERMS ? WIDE_WINDOW : WINDOW;
  const [sums, bits] = [new Float64Array(size), new Uint32Array(size / 32)];
  const window: Window = { live, excluded, sums, bits, size, from: 0, to: 0 };
  for (let from = excluded.indexOf(0); from >= 0 && from < lengths.length; from = excluded.indexOf(0, window.to)) {
    window.from = from;
    window.to = Math.min(from + size, lengths.length);
    let sum = 0;
    for (const scorer of scorers) {
      scorer.setBound(window);
      sum += scorer.bound;
    }
    if (sum > 0 && sum >= best.threshold) rankWindow(window, scorers, best);
  }
}

function rankWindow(window: Window, scorers: Scorer[], best: TopK<Found>): void {
  sortByBound(scorers);
  // The first `optional` terms together stay below the threshold: a document that holds no other is no candidate.
  let [optional, optionalBound] = [0, 0];
  for (const { bound } of scorers) {
    if (optionalBound + bound >= best.threshold) break;
    optionalBound += bound;
    optional += 1;
  }
  for (let at = optional; at < scorers.length; at += 1) {
    const scorer = scorers[at];
    if (scorer !== undefined && scorer.bound > 0) sumWindow(scorer, window);
  }
  offerWindow(window, scorers, { optional, optionalBound }, best);
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

function sumWindow(scorer: Scorer, { live, sums, bits, from, to }: Window): void {
  const { list } = scorer;
  const { lengths } = live.segment;
  if (list.advance(from) >= to) return;
  const { documents, frequencies } = list;
  do {
    const { size } = list;
    let { at } = list;
    for (; at < size; at += 1) {
      const document = documents[at] ?? 0;
      if (document >= to) break;
      const place = document - from;
      sums[place] = (sums[place] ?? 0) + scorer.score(frequencies[at] ?? 0, lengths[document] ?? 0);
      bits[place >> 5] = (bits[place >> 5] ?? 0) | (1 << (place & 31));
    }
    list.at = at;
    if (at < size) return;
  } while (list.nextBlock());
}

function offerWindow(
  { live, excluded, sums, bits, from }: Window,
  scorers: readonly Scorer[],
  { optional, optionalBound }: { readonly optional: number; readonly optionalBound: number },
  best: TopK<Found>,
): void {
  const { lengths } = live.segment;
  let { threshold } = best;
  for (let word = 0; word < bits.length; word += 1) {
    for (let left = bits[word] ?? 0; left !== 0; left &= left - 1) {
      const place = 32 * word + 31 - Math.clz32(left & -left);
      const document = from + place;
      let sum = sums[place] ?? 0;
      sums[place] = 0;
      if (sum + optionalBound < threshold || excluded[document] === 1) continue;
      let rest = optionalBound;
      for (let at = optional - 1; at >= 0 && sum + rest >= threshold; at -= 1) {
        const scorer = scorers[at];
        if (scorer === undefined || scorer.bound === 0) break;
        rest -= scorer.bound;
        const { list } = scorer;
        if (list.advance(document) !== document) continue;
        sum += scorer.score(list.frequencies[list.at] ?? 0, lengths[document] ?? 0);
      }
      if (sum < threshold) continue;
      best.offer({ live, document }, sum);
      threshold = best.threshold;
    }
    bits[word] = 0;
  }
}
