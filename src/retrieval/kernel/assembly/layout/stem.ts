import { RULES } from './memory.ts';

/** The steps of the stemmer that replace endings, and the addresses of their rules. */
export const DERIVED = RULES;
const STEP_BYTES = 4 * 32;
export const MODIFIED = DERIVED + STEP_BYTES;
export const FORMED = MODIFIED + STEP_BYTES;

/** The end of a letter's rules: a rule whose ending has no letters. */
export const NO_RULE = FORMED + STEP_BYTES;
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
