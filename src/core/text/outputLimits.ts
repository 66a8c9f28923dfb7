// Limits for values in a job's output. The runner, the service and the clients share them, so that all accept the same.

/** Deeper values can be parsed, but `JSON.stringify` and `structuredClone` would later overflow the stack. */
export const MAX_JSON_DEPTH = 1_000;

/** Characters of JSON in one value of marked lines. Values of flows have some ten thousand. */
export const MAX_VALUE_LENGTH = 384 * 1024;

/** Programs of one job whose values can be read at the same time. Each may use memory for one value. */
export const MAX_WRITERS = 16;

/** Bytes of one line in the log that a runner writes, which a reader reads at once. */
export const MAX_FRAME_BYTES = 1 << 20;

/** Whether JSON text is nested deeper than `MAX_JSON_DEPTH`. Counts brackets outside strings. */
export function isTooDeep(text: string): boolean {
  // A shorter text cannot be nested that deep.
  if (text.length < 2 * MAX_JSON_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) {
      isInString = true;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}
