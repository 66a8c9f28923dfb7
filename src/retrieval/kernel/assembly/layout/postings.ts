// The format that the code for writing and for reading postings shares.

/** The maximum number of packed numbers. */
export const MOST_PACKED = 128;
/** Fewer numbers are shorter as single numbers. */
export const LEAST_PACKED = 24;
/** The maximum width, so that four bytes contain a number wherever it starts in the first of them. Wider numbers are exceptions. */
export const MOST_WIDTH = 24;

/**
 * The number of documents in a range, one per bit of a number. It is small, because smaller ranges have tighter bounds.
 */
export const RANGE = 32;
/** The highest level. A range without a document that contains the term has level 0. */
export const HIGHEST_LEVEL = 15;
/** The number of ranges that a byte can skip. */
export const MOST_SKIPPED = 15;
