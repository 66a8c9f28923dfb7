import { RULES } from './memory.ts';

/** The steps of the stemmer that replace some endings by others, and the addresses of their rules. */
export const DERIVED = RULES;
const STEP_BYTES = 4 * 32;
export const MODIFIED = DERIVED + STEP_BYTES;
export const FORMED = MODIFIED + STEP_BYTES;

/** Behind the last rule of a letter, whose endings have no letters. */
export const NO_RULE = FORMED + STEP_BYTES;
export const FIRST_RULE = NO_RULE + 8;

// A step is, for each letter that an ending can have last, the address of its first rule. A rule is the numbers of letters of its
// ending and of what replaces it, the ending as the highest of eight bytes and which these are, what replaces it as the lowest of
// eight bytes, and a bit for each vowel of that.
export const REPLACEMENT_SIZE = 4;
export const ENDING = 8;
export const ENDING_MASK = 16;
export const REPLACEMENT = 24;
export const VOWELS = 32;
export const RULE_BYTES = 40;

/** The place of a letter in a step. */
export const LETTER_BITS = 31;
