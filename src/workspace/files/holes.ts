/** Zeros, to compare with and to hash. */
export const ZEROS: Buffer = Buffer.alloc(1 << 20);

/** Whether all bytes are 0, so that a file can have a hole in their place. For bytes that are not, this usually looks at the first only. */
export function isZero(bytes: Buffer): boolean {
  if (bytes[0] !== 0) return bytes.length === 0;
  for (let start = 0; start < bytes.length; start += ZEROS.length) {
    const part = bytes.subarray(start, start + ZEROS.length);
    if (!part.equals(ZEROS.subarray(0, part.length))) return false;
  }
  return true;
}
