// The memory layout that the tokenizer kernel and its callers share.

/** Bytes of a text per step; at least as many must follow it. */
export const STEP_BYTES = 64;
/** The address at which `internWords` writes the new number of words. */
export const SIZE_AT = 4;
/** The address at which `countWords` writes how many of the words have terms. */
export const LENGTH_AT = 8;
/** The address at which `splitWords` writes the record at which it stopped. */
export const STOPPED_AT = 12;
/** The address of the seed of all hashes, eight bytes. */
export const SEED = 16;
/** The addresses of the numbers to pack, and of the counts by width. */
export const NUMBERS = 128;
export const WIDTHS = NUMBERS + 4 * 128;
/** The address of the classes of each byte. */
export const KINDS = WIDTHS + 4 * 36;
/** The address of the stemmer's rules. */
export const RULES = KINDS + 256;
/** The first address that the kernel does not use itself. */
export const FREE_FROM = 8192;

// The classes of a byte in a word, as bits.
export const UPPER = 1;
export const LOWER = 2;
export const DIGIT = 4;
export const SEPARATOR = 8;
export const VOWEL = 16;
/** The last letters of all endings that the stemmer removes or changes; most words end in none of them. */
export const CHANGEABLE = 32;

// A record contains everything about a word, so that it mostly fits into one cache line: its length in bytes, the start and number of its
// terms, its count in the current document, and its bytes, padded with zeros to a multiple of 8.
export const LENGTH = 0;
export const FIRST = 4;
export const SECOND = 8;
export const COUNT = 12;
export const BYTES = 16;

/** The longest word with terms; longer runs are hashes, keys and encoded data. */
export const MAX_WORD = 64;
/** The number of unused bytes after a term, because the kernel reads and writes eight at once. */
export const TERM_PADDING = 8;
