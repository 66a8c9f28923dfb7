import { B, boundedAverage, K1 } from '../segments/bm25.ts';
import { PostingList } from '../segments/postingList.ts';
import type { Segment } from '../segments/segment.ts';

// Scores are summed as whole numbers of this fraction, so that a sum does not depend on the order of its parts.
const UNIT = 2 ** 32;

/** A score as people know it. */
export function toScore(units: number): number {
  return units / UNIT;
}

/** A term of the query in one segment. */
export interface WeightedList {
  readonly start: number;
  readonly weight: number;
}

/** What a term adds to the scores of a segment's documents, and at most in some of them. */
export class Scorer {
  readonly list = new PostingList();
  /** The highest score between the documents that were bounded last. */
  bound = 0;
  #boundBlock = 0;
  #lengths: Uint16Array = new Uint16Array(0);
  #factor = 0;
  readonly #base = K1 * (1 - B);
  readonly #slope: number;
  readonly #boundedSlope: number;

  constructor(averageLength: number) {
    this.#slope = (K1 * B) / averageLength;
    this.#boundedSlope = (K1 * B) / boundedAverage(averageLength);
  }

  open({ postings, lengths }: Segment, { start, weight }: WeightedList): void {
    this.list.open(postings, start, lengths);
    this.#factor = weight * (K1 + 1) * UNIT;
    this.#boundBlock = 0;
    this.#lengths = lengths;
  }

  /** Adds the scores of the documents from `from` to before `to` to the sums of these documents, and sets the bit of each. */
  addTo(sums: Float64Array, bits: Uint32Array, from: number, to: number): void {
    const { list } = this;
    if (list.advance(from) >= to) return;
    const [factor, base, slope, lengths] = [this.#factor, this.#base, this.#slope, this.#lengths];
    do {
      const { documents, frequencies, size } = list;
      let { at } = list;
      for (; at < size; at += 1) {
        const document = documents[at] ?? 0;
        if (document >= to) break;
        const place = document - from;
        const frequency = frequencies[at] ?? 0;
        const score = Math.round((factor * frequency) / (frequency + base + slope * (lengths[document] ?? 0)));
        sums[place] = (sums[place] ?? 0) + score;
        bits[place >> 5] = (bits[place >> 5] ?? 0) | (1 << (place & 31));
      }
      list.at = at;
      if (at < size) return;
    } while (list.nextBlock());
  }

  score(frequency: number, length: number): number {
    return Math.round((this.#factor * frequency) / (frequency + this.#base + this.#slope * length));
  }

  /** Bounds the scores of the documents from `from` to before `to` from what the blocks say, mostly without decoding one. */
  setBound(from: number, to: number): void {
    const { list } = this;
    const { lasts, blockCount } = list;
    let block = this.#boundBlock;
    while (block < blockCount && (lasts[block] ?? 0) < from) block += 1;
    this.#boundBlock = block;
    this.bound = 0;
    if (block >= blockCount) return;
    // A block of a rare term reaches over many windows, of which few hold the term: looking costs less than scoring them.
    const before = block === 0 ? -1 : (lasts[block - 1] ?? 0);
    if ((lasts[block] ?? 0) - before > to - from && list.advance(from) >= to) return;
    for (; block < blockCount && (block === 0 || (lasts[block - 1] ?? 0) + 1 < to); block += 1) {
      const bound = this.#boundOf(block);
      if (bound > this.bound) this.bound = bound;
    }
  }

  /** One more than the score, since another order of rounding could give that. */
  #boundOf(block: number): number {
    const frequency = this.list.highest[block] ?? 0;
    const length = this.list.bounding[block] ?? 0;
    return Math.ceil((this.#factor * frequency) / (frequency + this.#base + this.#boundedSlope * length)) + 1;
  }
}
