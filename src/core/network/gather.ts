// Below this, a copy costs less than an entry of its own on the way.
const SMALL_BYTES = 4 * 1024;
const MOST_GATHERED_BYTES = 64 * 1024;

/** The same bytes in fewer pieces: small ones that follow each other become one. Large ones are not copied. */
export function gather(pieces: readonly Buffer[]): Buffer[] {
  const gathered: Buffer[] = [];
  let small: Buffer[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (small.length > 0) gathered.push(Buffer.concat(small, bytes));
    small = [];
    bytes = 0;
  };
  for (const piece of pieces) {
    if (piece.length >= SMALL_BYTES || bytes + piece.length > MOST_GATHERED_BYTES) flush();
    if (piece.length >= SMALL_BYTES) {
      gathered.push(piece);
      continue;
    }
    small.push(piece);
    bytes += piece.length;
  }
  flush();
  return gathered;
}
