/** What is sorted of a word: its first eight bytes as a number whose order is theirs, and the address of its record. */
export const ENTRY_BYTES = 16;
/** Where in an entry the address of the record lies. */
export const RECORD = 8;
