// What the code that writes postings and the code that reads them must agree on.

/** So many numbers are packed together at most. */
export const MOST_PACKED = 128;
/** Fewer are shorter as single numbers. */
export const LEAST_PACKED = 24;
/** What is wider goes behind the others, so that four bytes hold a number wherever its first bit lies in the first of them. */
export const MOST_WIDTH = 24;

/**
 * A range is as many documents as a number has bits: few, since the fewer they are the nearer a bound is to what each of them gets.
 */
export const RANGE = 32;
/** The highest level. Of a range without a document that has the term the level is 0. */
export const HIGHEST_LEVEL = 15;
/** Ranges that a byte can skip. */
export const MOST_SKIPPED = 15;
