// A term's contribution to the score of a document, without the term's weight, is a part between 0 and 1. The highest part in each range
// of documents is stored as one of a few levels. A search therefore knows which ranges can contain one of the best documents without
// decoding postings (document-based blocks as in Dimopoulos and others, "Optimizing Top-k Document Retrieval Strategies for Block-Max
// Indexes", 2013).
import { HIGHEST_LEVEL, MOST_SKIPPED, RANGE } from '../kernel/assembly/kernelLayout.ts';

// BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 above the usual 1.2, which ranks
// better once the names of definitions are weighted.
export const K1 = 2;
export const B = 0.85;

// The mean document length for which levels are computed; if documents are shorter on average, the bounds are only less tight.
const LEVEL_AVERAGE = 64;
/** The part of a document of `length` words that contains a term `f` times is f / (f + LEVEL_BASE + LEVEL_SLOPE * length). */
export const LEVEL_BASE = K1 * (1 - B);
export const LEVEL_SLOPE = (K1 * B) / LEVEL_AVERAGE;

/** The length of longer documents is counted as this many words. */
export const MAX_LENGTH = 0xffff;

/**
 * The highest part that a document of each level can have, for a mean document length in words. A part is 1 / (1 + norm / f), and the
 * norm for a longer mean document is never less than that of the level divided by the ratio of the lengths.
 */
export function levelParts(averageLength: number): Float64Array {
  const shrink = LEVEL_AVERAGE / Math.max(averageLength, LEVEL_AVERAGE);
  const parts = new Float64Array(HIGHEST_LEVEL + 1);
  for (let level = 1; level <= HIGHEST_LEVEL; level += 1) parts[level] = 1 / (1 + shrink * (HIGHEST_LEVEL / level - 1));
  return parts;
}

/** The level of a posting list in each range of a segment's documents, and the sums of the levels of all lists. */
export interface RangeBounds {
  readonly levels: Uint8Array;
  /** The highest score of each level. */
  readonly bounds: Float64Array;
  /** The sum of these scores for each range, to which those of this list are added. */
  readonly sums: Float64Array;
}

/** Reads the stored levels of a list whose last document is `last`. */
export function readLevels(
  bytes: Uint8Array,
  start: number,
  last: number,
  { levels, bounds, sums }: RangeBounds,
): void {
  const lastRange = Math.floor(last / RANGE);
  for (let range = -1, at = start; range < lastRange; at += 1) {
    const byte = bytes[at] ?? 0;
    const level = byte >>> 4;
    range += (byte & MOST_SKIPPED) + 1;
    levels[range] = level;
    sums[range] = (sums[range] ?? 0) + (bounds[level] ?? 0);
  }
}

/** Computes the levels of some postings, as `readLevels` reads them. */
export function makeLevels(
  {
    documents,
    frequencies,
    size,
  }: { readonly documents: Uint32Array; readonly frequencies: Uint32Array; readonly size: number },
  lengths: Uint16Array,
  { levels, bounds, sums }: RangeBounds,
): void {
  for (let at = 0; at < size; ) {
    const range = Math.floor((documents[at] ?? 0) / RANGE);
    const end = (range + 1) * RANGE;
    let least = 1;
    for (let document = documents[at] ?? 0; at < size && document < end; document = documents[at] ?? 0) {
      const norm = LEVEL_BASE + LEVEL_SLOPE * (lengths[document] ?? 0);
      const missing = norm / ((frequencies[at] ?? 0) + norm);
      if (missing < least) least = missing;
      at += 1;
    }
    // The difference to 1 is rounded down, so that the level is rounded up.
    const level = HIGHEST_LEVEL - Math.floor(HIGHEST_LEVEL * least);
    levels[range] = level;
    sums[range] = (sums[range] ?? 0) + (bounds[level] ?? 0);
  }
}
