import { B, K1 } from '../segments/scoreLevels.ts';
import { PostingList } from '../segments/postingList.ts';
import { RANGE } from '../kernel/assembly/kernelLayout.ts';
import type { Segment } from '../segments/segment.ts';

// Scores are summed as multiples of this fraction, so that a sum does not depend on the order of its parts.
const UNIT = 2 ** 32;

/** A score as shown to users. */
export function toScore(units: number): number {
  return units / UNIT;
}

/** A term of the query in one segment. */
export interface WeightedList {
  readonly start: number;
  readonly weight: number;
  /** A bit that stands for the term in `Found.terms`; 0 for what only adds to the scores. */
  readonly bit: number;
}

/** What a term adds to the scores of a segment's documents, and its upper bound in each range of documents. */
export class Scorer {
  readonly #list = new PostingList();
  #levels = new Uint8Array(0);
  /** The highest score of each level. */
  readonly #bounds: Float64Array;
  readonly #parts: Float64Array;
  #lengths: Uint16Array = new Uint16Array(0);
  bit = 0;
  #weight = 0;
  #factor = 0;
  readonly #base = K1 * (1 - B);
  readonly #slope: number;

  /** @param parts the parts of the levels for this mean document length. */
  constructor(averageLength: number, parts: Float64Array) {
    this.#slope = (K1 * B) / averageLength;
    this.#parts = parts;
    this.#bounds = new Float64Array(parts.length);
  }

  /** Starts the list of a segment, and adds the highest score in each range of documents to the sums of the ranges. */
  open({ postings, lengths }: Segment, { start, weight, bit }: WeightedList, sums: Float64Array): void {
    this.bit = bit;
    if (weight !== this.#weight) this.#weigh(weight);
    if (this.#levels.length < sums.length) this.#levels = new Uint8Array(sums.length);
    else this.#levels.fill(0);
    this.#lengths = lengths;
    this.#list.open(postings, start);
    this.#list.boundRanges({ levels: this.#levels, bounds: this.#bounds, sums }, lengths);
  }

  #weigh(weight: number): void {
    this.#weight = weight;
    this.#factor = weight * (K1 + 1) * UNIT;
    // One more than the score, because a different order of rounding could result in that.
    for (let level = 1; level < this.#parts.length; level += 1) {
      this.#bounds[level] = Math.ceil(this.#factor * (this.#parts[level] ?? 0)) + 1;
    }
  }

  /** The highest score in a range; 0 if none of its documents contains the term. */
  boundOf(range: number): number {
    return this.#bounds[this.#levels[range] ?? 0] ?? 0;
  }

  /** Adds the scores of the documents in the range that begins at `from` to their sums, and returns a bit for each. */
  addTo(sums: Float64Array, from: number): number {
    const list = this.#list;
    const to = from + RANGE;
    if (list.advance(from) >= to) return 0;
    const [factor, base, slope, lengths] = [this.#factor, this.#base, this.#slope, this.#lengths];
    let bits = 0;
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
        bits |= 1 << place;
      }
      list.at = at;
      if (at < size) break;
    } while (list.nextBlock());
    return bits;
  }

  /** The score of a document; 0 if it does not contain the term. */
  score(document: number): number {
    const list = this.#list;
    if (list.advance(document) !== document) return 0;
    const frequency = list.frequencies[list.at] ?? 0;
    return Math.round(
      (this.#factor * frequency) / (frequency + this.#base + this.#slope * (this.#lengths[document] ?? 0)),
    );
  }
}
