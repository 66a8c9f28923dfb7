/** The sort entry of a word: its first eight bytes as a number that sorts as they do, and the address of its record. */
export const ENTRY_BYTES = 16;
/** The offset of the record's address in an entry. */
export const RECORD = 8;
