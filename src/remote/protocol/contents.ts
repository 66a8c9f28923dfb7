import { createHash } from 'node:crypto';
import { freeMemory } from '../../core/files/ownMemory.ts';

/**
 * Submissions by content: the tar stream of an archive is cut into pieces, and a piece that a service has from the account is not sent
 * again. A piece is named by its SHA-256. The names of the pieces, in order, are cut into lists, which are pieces themselves; the
 * submission consists of the names of its lists. So a change somewhere costs one piece, one list and one name.
 */

/** The feature of a service that takes submissions by content, in `features` of `GET /v1/me`. */
export const CONTENT_FEATURE = 'content';
/**
 * The feature of a service whose results can be fetched by content. The tar stream of a job's results is cut into pieces in the same way, and
 * `GET /v1/jobs/{id}/artifacts/contents` returns a record for each, in order: its name, and its size as 32 bits, little-endian. `POST` with a bit
 * for each record, the lowest of each byte first, returns the pieces whose bits are 1, in order, as in a batch.
 */
export const RESULT_CONTENT_FEATURE = 'result-content';
/** The bytes of a name. */
export const NAME_BYTES = 32;
/** The bytes of a record. */
export const RECORD_BYTES: number = NAME_BYTES + 4;
/** The largest piece, and the largest list. */
export const MAX_PIECE_BYTES = 256 * 1024;
/** How many names one request may ask about. */
export const MAX_ASKED_NAMES = 16_384;
/** The most bytes that one request may send, compressed. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** The most pieces that one request may send, because hashing each takes time even if its frame is small. */
export const MAX_BATCH_PIECES = 4_096;
/** How many pieces a submission may have, counting repetitions: four times as many as an archive of 20 GB has. */
export const MAX_PIECES = 1_048_576;
/** How many lists a submission may have: more than an archive of 20 GB needs. */
export const MAX_LISTS = 65_536;

/** The largest frame of a piece: Zstandard adds little to what it cannot compress. */
export const MAX_FRAME_BYTES: number = MAX_PIECE_BYTES + 4_096;

/** The header of a piece in a batch: its name, and the length of its Zstandard frame (RFC 8878) as 32 bits, little-endian. */
export const PIECE_HEADER_BYTES = NAME_BYTES + 4;

export function nameOfPiece(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** The names in a list, each a view of its bytes; undefined if the length does not fit. */
export function namesIn(list: Buffer): readonly Buffer[] | undefined {
  if (list.length % NAME_BYTES !== 0) return undefined;
  return Array.from({ length: list.length / NAME_BYTES }, (_, index) =>
    list.subarray(index * NAME_BYTES, (index + 1) * NAME_BYTES),
  );
}

/** One piece of a batch. @param frame the parts of the piece's frame. */
export function batchEntry(name: Buffer, ...frame: readonly Buffer[]): readonly Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(frame.reduce((sum, part) => sum + part.length, 0));
  return [name, length, ...frame];
}

/** A piece that was received. */
export interface BatchEntry {
  readonly name: Buffer;
  /** The piece, compressed. */
  readonly frame: Buffer;
}

/**
 * The pieces of a batch that arrives as a stream, each valid until the next one. Yields undefined at the end if the stream ends inside a
 * piece, or a frame is too large.
 */
export async function* entriesIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<BatchEntry | undefined, void> {
  let memory = Buffer.alloc(0);
  let buffer: Buffer = memory;
  for await (const chunk of body) {
    const bytes = Buffer.concat([buffer, chunk]);
    freeMemory(memory);
    memory = bytes;
    buffer = bytes;
    let start = 0;
    while (buffer.length - start >= PIECE_HEADER_BYTES) {
      const begin = start + PIECE_HEADER_BYTES;
      const bytes = buffer.readUInt32LE(start + NAME_BYTES);
      if (bytes > MAX_FRAME_BYTES) {
        yield undefined;
        return;
      }
      if (buffer.length < begin + bytes) break;
      yield { name: buffer.subarray(start, start + NAME_BYTES), frame: buffer.subarray(begin, begin + bytes) };
      start = begin + bytes;
    }
    buffer = buffer.subarray(start);
  }
  if (buffer.length > 0) yield undefined;
}
