// The memory layout and the formats that the kernels and their callers share.

/** Bytes of a text per step; at least as many must follow it. */
export const STEP_BYTES = 64;
/** The address at which `internWords` writes the new number of words. */
export const SIZE_AT = 4;
/** The address at which `countWords` writes how many of the words have terms. */
export const LENGTH_AT = 8;
/** The address at which `splitTerms` writes the record at which it stopped. */
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

/** The sort entry of a word: its first eight bytes as a number that sorts as they do, and the address of its record. */
export const ENTRY_BYTES = 16;
/** The offset of the record's address in an entry. */
export const RECORD = 8;

/** The steps of the stemmer that replace endings, and the addresses of their rules. */
export const DERIVED = RULES;
const STEP_RULES_BYTES = 4 * 32;
export const MODIFIED = DERIVED + STEP_RULES_BYTES;
export const FORMED = MODIFIED + STEP_RULES_BYTES;

/** The end of a letter's rules: a rule whose ending has no letters. */
export const NO_RULE = FORMED + STEP_RULES_BYTES;
export const FIRST_RULE = NO_RULE + 8;

// A step has, for each possible last letter of an ending, the address of its first rule. A rule consists of the lengths of its ending
// and replacement, the ending as the highest of eight bytes and their mask, the replacement as the lowest of eight bytes, and a bit for
// each vowel in it.
export const REPLACEMENT_SIZE = 4;
export const ENDING = 8;
export const ENDING_MASK = 16;
export const REPLACEMENT = 24;
export const VOWELS = 32;
export const RULE_BYTES = 40;

/** The offset of a letter in a step. */
export const LETTER_BITS = 31;

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

/** Rows per step, so that the query is loaded once for all of them. */
export const ROWS_PER_STEP = 4;
/** Numbers per step and row; rows are padded with zeros to a multiple of this. */
export const NUMBERS_PER_STEP = 8;
