import { createHash } from 'node:crypto';

const MIN_PIECE_BYTES = 16 * 1024;
const MAX_PIECE_BYTES = 256 * 1024;
// One position in 65,536 is a boundary, so a piece has 80 KB on average.
const BORDER = 0xffff_0000;
/** The piece that regions of zeros are cut into, because no position in them is a boundary. */
export const ZERO_PIECE: Buffer = Buffer.alloc(MAX_PIECE_BYTES);

/** A random number for each byte, the same everywhere. */
const GEAR = new Uint32Array(256);
for (let byte = 0; byte < 256; byte += 1)
  GEAR[byte] = createHash('sha256').update(`gear ${byte}`).digest().readUInt32LE(0);

/**
 * Cuts a stream into pieces of 16 to 256 KB at boundaries that depend only on the 32 bytes before them, so an insertion moves no later
 * boundary (FastCDC: Xia et al. 2016, including its skip of the minimum size).
 */
export class PieceCutter {
  readonly #piece = Buffer.allocUnsafeSlow(MAX_PIECE_BYTES);
  #filled = 0;
  #hash = 0;
  #isAtBorder = false;

  /** @param onPiece receives each complete piece; its bytes are valid during the call. */
  write(bytes: Uint8Array, onPiece: (piece: Buffer) => void): void {
    let start = 0;
    while (start < bytes.length) {
      if (this.#filled === 0 && bytes[start] === 0 && isZeroPiece(bytes.subarray(start, start + MAX_PIECE_BYTES))) {
        onPiece(ZERO_PIECE);
        start += MAX_PIECE_BYTES;
        continue;
      }
      const end = this.#findBorder(bytes, start);
      this.#piece.set(bytes.subarray(start, end), this.#filled);
      this.#filled += end - start;
      start = end;
      if (this.#isAtBorder) this.end(onPiece);
    }
  }

  /** The rest of the stream is a piece, if there is any. */
  end(onPiece: (piece: Buffer) => void): void {
    if (this.#filled > 0) onPiece(this.#piece.subarray(0, this.#filled));
    this.#filled = 0;
    this.#hash = 0;
  }

  /** The end of the current piece in these bytes, or their own end. */
  #findBorder(bytes: Uint8Array, start: number): number {
    const most = Math.min(bytes.length, start + MAX_PIECE_BYTES - this.#filled);
    let index = Math.min(most, start + Math.max(0, MIN_PIECE_BYTES - this.#filled));
    let hash = this.#hash;
    for (; index < most; index += 1) {
      hash = ((hash << 1) + (GEAR[bytes[index] ?? 0] ?? 0)) | 0;
      if ((hash & BORDER) === 0) {
        this.#isAtBorder = true;
        return index + 1;
      }
    }
    this.#hash = hash;
    this.#isAtBorder = this.#filled + most - start === MAX_PIECE_BYTES;
    return most;
  }
}

function isZeroPiece(bytes: Uint8Array): boolean {
  return bytes.length === MAX_PIECE_BYTES && ZERO_PIECE.equals(bytes);
}
