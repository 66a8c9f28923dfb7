/** Rows per step, so that the query is loaded once for all of them. */
export const ROWS_PER_STEP = 4;
/** Numbers per step and row; rows are padded with zeros to a multiple of this. */
export const NUMBERS_PER_STEP = 8;
/** The same for sums of rows of floats. */
export const SUMMED_PER_STEP = 16;
/** Bytes of an entry of a sum: the address of a row, and its factor. */
export const ENTRY_BYTES = 8;
