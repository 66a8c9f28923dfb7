import { zstdCompressSync } from 'node:zlib';
import { batchEntry, nameOfPiece, RECORD_BYTES } from '../../../../src/remote/protocol/contents.ts';

/** The record of each piece, as a service lists them. */
export function recordsOf(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(
    pieces.map((bytes) => {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(bytes.length);
      return Buffer.concat([nameOfPiece(bytes), size]);
    }),
  );
}

/** The records whose bits are 1, by their places. */
export function bitsIn(wanted: Uint8Array, count: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter(
    (index) => (((wanted[index >> 3] ?? 0) >> (index & 7)) & 1) === 1,
  );
}

/** A service with the results of a job, cut into these pieces. */
export class PieceService {
  readonly pieces: readonly Buffer[];
  /** For each request for pieces, the places that it asked for. */
  readonly asked: number[][] = [];
  records: Buffer;
  features: readonly string[] | undefined = ['result-content'];
  /** What a request for pieces sends of the bytes that it was to send; an error breaks the connection. */
  send: (bytes: Buffer, request: number) => AsyncIterable<Uint8Array> | Iterable<Uint8Array> = (bytes) => [bytes];

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
    this.records = recordsOf(pieces);
  }

  async me() {
    return { ...(this.features && { features: [...this.features] }) };
  }

  async *streamResultContents(_job: string, wanted?: Uint8Array): AsyncGenerator<Uint8Array, void> {
    if (wanted === undefined) {
      for (let at = 0; at < this.records.length; at += RECORD_BYTES * 2) {
        yield this.records.subarray(at, at + RECORD_BYTES * 2);
      }
      return;
    }
    const places = bitsIn(wanted, wanted.length * 8);
    this.asked.push(places);
    const entries = places.flatMap((place) => {
      const bytes = this.pieces[place] ?? Buffer.alloc(0);
      return batchEntry(nameOfPiece(bytes), zstdCompressSync(bytes));
    });
    yield* this.send(Buffer.concat(entries), this.asked.length);
  }
}
