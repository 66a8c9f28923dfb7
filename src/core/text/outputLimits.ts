// Limits for values in a job's output. The runner, the service and the clients share them, so that all accept the same.

/** Characters of JSON in one value of marked lines. Values of flows have some ten thousand. */
export const MAX_VALUE_LENGTH = 384 * 1024;

/** Programs of one job whose values can be read at the same time. Each may use memory for one value. */
export const MAX_WRITERS = 16;

/** Bytes of one line in the log that a runner writes, which a reader reads at once. */
export const MAX_OUTPUT_FRAME_BYTES = 1 << 20;
