// BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 above the usual 1.2, which ranks
// better once the names of definitions are weighted.
export const K1 = 2;
export const B = 0.85;

/** A longer document counts as one of so many words. */
export const MAX_LENGTH = 0xffff;
// Words of a mean document that bounds are made for; where the documents are shorter on average, the bounds are only less sharp.
const BOUNDED_AVERAGE = 64;
export const BASE_LENGTH = (BOUNDED_AVERAGE * (1 - B)) / B;

/**
 * The greatest length with which a document of `highest` places of a term scores no less than one with `frequency` places and
 * `length` words does. So the least of these over some documents bounds the scores of all with two numbers, whatever the weight of
 * the term is, for averages from `boundedAverage` on.
 */
export function boundingLength(highest: number, frequency: number, length: number): number {
  return (highest * length + (highest - frequency) * BASE_LENGTH) / frequency;
}

/** The average length that bounds hold for: a lower one makes all scores lower. */
export function boundedAverage(averageLength: number): number {
  return Math.max(averageLength, BOUNDED_AVERAGE);
}
