/** Rows that one step takes together, so that the query is loaded once for all of them. */
export const ROWS_PER_STEP = 4;
/** Numbers that one step takes of a row: rows are filled up with zeros to a multiple of this. */
export const NUMBERS_PER_STEP = 8;
