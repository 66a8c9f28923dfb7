import type { LiveSegment } from './liveSegment.ts';
import { NO_DOCUMENT, PostingList } from './postings.ts';
import type { TopK } from './topK.ts';

// BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 above the usual 1.2, which ranks
// better once the names of definitions are weighted.
const K1 = 2;
const B = 0.85;
// Documents that are scored together: few enough for the processor's cache, enough to pass over many at once.
const WINDOW = 4096;
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

  /** Bounds the scores between two documents from what the blocks say, without decoding one. */
  setBound(from: number, to: number): void {
    const { lasts, blockCount, highest, shortest } = this.list;
    let block = this.#boundBlock;
    while (block < blockCount && (lasts[block] ?? 0) < from) block += 1;
    this.#boundBlock = block;
    this.bound = 0;
    for (; block < blockCount && (block === 0 || (lasts[block - 1] ?? 0) + 1 < to); block += 1) {
      // One more than the score, since another order of rounding could give that.
      const bound = this.score(highest[block] ?? 0, shortest[block] ?? 0) + 1;
      if (bound > this.bound) this.bound = bound;
    }
  }
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
  const sums = new Float64Array(Math.min(WINDOW, lengths.length));
  for (let from = 0; from < lengths.length; from += WINDOW) {
    const to = Math.min(from + WINDOW, lengths.length);
    const first = excluded.indexOf(0, from);
    if (first === -1) return;
    if (first >= to) continue;
    for (const scorer of scorers) scorer.setBound(from, to);
    const present = scorers.filter(({ bound }) => bound > 0).sort((a, b) => a.bound - b.bound);
    // The first `optional` terms together stay below the threshold: a document that holds no other is no candidate.
    let [optional, optionalBound] = [0, 0];
    for (const { bound } of present) {
      if (optionalBound + bound >= best.threshold) break;
      optionalBound += bound;
      optional += 1;
    }
    if (optional === present.length) continue;
    for (const scorer of present.slice(optional)) sumWindow(scorer, sums, lengths, from, to);
    offerWindow(live, present.slice(0, optional).reverse(), { sums, excluded, from, to, optionalBound }, best);
  }
}

function sumWindow(scorer: Scorer, sums: Float64Array, lengths: Uint16Array, from: number, to: number): void {
  const { list } = scorer;
  if (list.advance(from) === NO_DOCUMENT) return;
  const { documents, frequencies } = list;
  do {
    const { size } = list;
    let { at } = list;
    for (; at < size; at += 1) {
      const document = documents[at] ?? 0;
      if (document >= to) break;
      const score = scorer.score(frequencies[at] ?? 0, lengths[document] ?? 0);
      sums[document - from] = (sums[document - from] ?? 0) + score;
    }
    list.at = at;
    if (at < size) return;
  } while (list.nextBlock());
}

interface Window {
  readonly sums: Float64Array;
  readonly excluded: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly optionalBound: number;
}

function offerWindow(
  live: LiveSegment,
  optional: readonly Scorer[],
  { sums, excluded, from, to, optionalBound }: Window,
  best: TopK<Found>,
): void {
  const { lengths } = live.segment;
  let { threshold } = best;
  for (let document = from; document < to; document += 1) {
    let sum = sums[document - from] ?? 0;
    if (sum === 0) continue;
    sums[document - from] = 0;
    if (sum + optionalBound < threshold || excluded[document] === 1) continue;
    let rest = optionalBound;
    for (const scorer of optional) {
      if (sum + rest < threshold) break;
      rest -= scorer.bound;
      const { list } = scorer;
      if (list.advance(document) === document) {
        sum += scorer.score(list.frequencies[list.at] ?? 0, lengths[document] ?? 0);
      }
    }
    if (sum < threshold) continue;
    best.offer({ live, document }, sum);
    threshold = best.threshold;
  }
}
