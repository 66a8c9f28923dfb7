// How much a term adds to the score of a document, without the term's weight, is a part between 0 and 1. The highest part in each range
// of documents is kept as one of a few levels, so that a search knows without decoding a posting which ranges can hold one of the
// best (blocks by documents as of Dimopoulos and others, "Optimizing Top-k Document Retrieval Strategies for Block-Max Indexes",
// 2013).
import { HIGHEST_LEVEL, MOST_SKIPPED, RANGE } from '../kernel/assembly/layout/postings.ts';
import { B, K1 } from './bm25.ts';

// The words of a mean document that levels are made for; where the documents are shorter on average, they are only less sharp.
const LEVEL_AVERAGE = 64;
/** A document of `length` words in which a term stands `f` times gets the part f / (f + LEVEL_BASE + LEVEL_SLOPE * length). */
export const LEVEL_BASE = K1 * (1 - B);
export const LEVEL_SLOPE = (K1 * B) / LEVEL_AVERAGE;

/**
 * The highest part that a document of each level can get where the mean document has so many words. A part is 1 / (1 + norm / f),
 * and the norm of a longer mean document is never less than that of the level divided by how much longer it is.
 */
export function levelParts(averageLength: number): Float64Array {
  const shrink = LEVEL_AVERAGE / Math.max(averageLength, LEVEL_AVERAGE);
  const parts = new Float64Array(HIGHEST_LEVEL + 1);
  for (let level = 1; level <= HIGHEST_LEVEL; level += 1) parts[level] = 1 / (1 + shrink * (HIGHEST_LEVEL / level - 1));
  return parts;
}

/** The level of a posting list in each range of a segment's documents, and what the levels of all lists sum up to. */
export interface RangeBounds {
  readonly levels: Uint8Array;
  /** The highest score of each level. */
  readonly bounds: Float64Array;
  /** Of each range the sum of these scores, to which those of this list are added. */
  readonly sums: Float64Array;
}

/** Reads the levels that were written of a list whose last document is `last`. */
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

/** Does with the levels of some postings what `readLevels` does. */
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
    // What is missing to the whole is rounded down, so the level is rounded up.
    const level = HIGHEST_LEVEL - Math.floor(HIGHEST_LEVEL * least);
    levels[range] = level;
    sums[range] = (sums[range] ?? 0) + (bounds[level] ?? 0);
  }
}
