import { createHash } from 'node:crypto';
import { PieceCutter, ZERO_PIECE } from './pieceCutter.ts';

/** For each piece: its SHA-256, and its length as 32 bits, little-endian. */
export const PIECE_RECORD_BYTES = 36;
const LENGTH_AT = 32;
const FIRST_BYTES = 4096;
/** The name of the piece that regions of zeros are cut into. */
export const ZERO_PIECE_NAME: Buffer = createHash('sha256').update(ZERO_PIECE).digest();

export interface PieceRecord {
  /** The SHA-256 of the piece: a view of the records. */
  readonly name: Buffer;
  /** In bytes. */
  readonly size: number;
}

/** The pieces that records describe, in order. */
export function* piecesIn(records: Buffer): Generator<PieceRecord, void> {
  for (let at = 0; at + PIECE_RECORD_BYTES <= records.length; at += PIECE_RECORD_BYTES) {
    yield { name: records.subarray(at, at + LENGTH_AT), size: records.readUInt32LE(at + LENGTH_AT) };
  }
}

/** A record for each piece of a tar stream. */
export class PieceRecords {
  readonly #cutter = new PieceCutter();
  // A buffer for each record could keep the whole 64 KB of Node.js's pool in memory that it is a slice of.
  #records = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #filled = 0;

  /** The next bytes of the stream. */
  readonly write = (bytes: Uint8Array): void => this.#cutter.write(bytes, this.#add);

  /** Ends the stream, and returns its records. What is written next is another stream. */
  end(): Buffer {
    this.#cutter.end(this.#add);
    const records = Buffer.allocUnsafeSlow(this.#filled);
    this.#records.copy(records, 0, 0, this.#filled);
    this.#filled = 0;
    return records;
  }

  readonly #add = (piece: Buffer): void => {
    if (this.#filled + PIECE_RECORD_BYTES > this.#records.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.#records.length);
      this.#records.copy(larger, 0, 0, this.#filled);
      this.#records = larger;
    }
    const name = piece === ZERO_PIECE ? ZERO_PIECE_NAME : createHash('sha256').update(piece).digest();
    name.copy(this.#records, this.#filled);
    this.#records.writeUInt32LE(piece.length, this.#filled + LENGTH_AT);
    this.#filled += PIECE_RECORD_BYTES;
  };
}
