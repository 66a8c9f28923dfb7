// Where the word program and whoever calls it find things in their memory.

/** As many bytes of a text are looked at together: behind it there is room for as many. */
export const STEP_BYTES = 64;
/** Where `find` writes how many words there are then. */
export const SIZE_AT = 4;
/** Where `count` writes how many of the words have terms. */
export const LENGTH_AT = 8;
/** Where `split` writes at which record it stopped. */
export const STOPPED_AT = 12;
/** Where the numbers lie that have ones in their lowest 0 to 8 bytes: of eight bytes those that are a word's. */
export const MASKS = 16;
/** Where `block` has the numbers that it packs, and how many of them there are of each width. */
export const NUMBERS = 128;
export const WIDTHS = NUMBERS + 4 * 128;
/** Where of each byte lies what it can be in a word. */
export const CLASSES = WIDTHS + 4 * 36;
/** Where the stemmer's rules lie. */
export const RULES = CLASSES + 256;
/** Behind what the program itself needs. */
export const FREE_FROM = 8192;

// All that is known of a word lies together, most often in one line of the processor's cache: its length in bytes, where its terms
// begin and how many they are, how often the document that is read has it, and its bytes, filled up with zeros to a multiple of 8.
export const LENGTH = 0;
export const FIRST = 4;
export const SECOND = 8;
export const COUNT = 12;
export const BYTES = 16;

/** The longest word that has terms: longer runs are hashes, keys and encoded data. */
export const MAX_WORD = 64;
/** So many bytes are free behind a term: the program reads and writes eight at once. */
export const TERM_PADDING = 8;
