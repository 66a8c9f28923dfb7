// Where the tokenizer kernel and the code that calls it find things in their memory.

/** As many bytes of a text are read together: behind it there is room for as many. */
export const STEP_BYTES = 64;
/** Where `internWords` writes how many words there are then. */
export const SIZE_AT = 4;
/** Where `countWords` writes how many of the words have terms. */
export const LENGTH_AT = 8;
/** Where `splitWords` writes at which record it stopped. */
export const STOPPED_AT = 12;
/** Where the seed of all hashes lies, eight bytes. */
export const SEED = 16;
/** Where numbers lie that are packed, and how many of them there are of each width. */
export const NUMBERS = 128;
export const WIDTHS = NUMBERS + 4 * 128;
/** Where the kinds of each byte lie. */
export const KINDS = WIDTHS + 4 * 36;
/** Where the stemmer's rules lie. */
export const RULES = KINDS + 256;
/** Behind what the kernel itself needs. */
export const FREE_FROM = 8192;

// The kinds of a byte in a word, each a bit.
export const UPPER = 1;
export const LOWER = 2;
export const DIGIT = 4;
export const SEPARATOR = 8;
export const VOWEL = 16;
/** The last letters of whatever the stemmer removes or changes: most words end in none of them. */
export const CHANGEABLE = 32;

// All that is known of a word lies together, most often in one line of the processor's cache: its length in bytes, where its terms
// begin and how many they are, how often the document that is read has it, and its bytes, filled up with zeros to a multiple of 8.
export const LENGTH = 0;
export const FIRST = 4;
export const SECOND = 8;
export const COUNT = 12;
export const BYTES = 16;

/** The longest word that has terms: longer runs are hashes, keys and encoded data. */
export const MAX_WORD = 64;
/** So many bytes are free behind a term: the kernel reads and writes eight at once. */
export const TERM_PADDING = 8;
