import { AppError } from '../../core/errors.ts';
import { freeUsedUp } from '../../core/files/ownMemory.ts';
import { DamagedArchive } from '../archive/inflateSegment.ts';
import { TimelessTar } from '../archive/timeless.ts';
import type { PieceRecord } from './pieceRecords.ts';

export interface Piece {
  readonly name: Buffer;
  /** In memory of its own. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Whether it is known that compressing it saves nothing. */
  readonly isIncompressible?: boolean;
}

/**
 * Splits the tar stream of an archive into the pieces that records describe, which have no times beside the files.
 *
 * @param stream of zlib, whose chunks nothing else uses: their memory is freed, because the garbage collector would let it accumulate.
 * @param isWanted whether a piece is returned; `index` is that of its record.
 * @throws DamagedArchive for a stream that is not one of ours.
 * @returns the pieces that are wanted, in order, and only complete ones. What they contain is not checked.
 */
export async function* splitPieces(
  stream: AsyncIterable<Buffer<ArrayBuffer>>,
  pieces: Iterable<PieceRecord, void>,
  isWanted: (name: Buffer, index: number) => boolean,
): AsyncGenerator<Piece, void> {
  const records = pieces[Symbol.iterator]();
  let piece = records.next().value;
  let index = 0;
  let bytes: Buffer<ArrayBuffer> | undefined;
  let filled = 0;
  for await (const part of timelessParts(stream)) {
    if (piece === undefined) return;
    for (let start = 0; start < part.length && piece !== undefined; ) {
      if (filled === 0) bytes = isWanted(piece.name, index) ? Buffer.allocUnsafeSlow(piece.size) : undefined;
      const end = Math.min(part.length, start + piece.size - filled);
      if (bytes !== undefined) part.copy(bytes, filled, start, end);
      filled += end - start;
      start = end;
      if (filled < piece.size) continue;
      if (bytes !== undefined) yield { name: piece.name, bytes };
      piece = records.next().value;
      index += 1;
      filled = 0;
    }
  }
}

async function* timelessParts(stream: AsyncIterable<Buffer<ArrayBuffer>>): AsyncGenerator<Buffer, void> {
  const timeless = new TimelessTar();
  for await (const chunk of stream) {
    yield* convert(timeless, chunk);
    freeUsedUp(chunk);
  }
  yield* timeless.finish();
}

function convert(timeless: TimelessTar, chunk: Buffer): readonly Buffer[] {
  try {
    return timeless.write(chunk);
  } catch (error) {
    throw error instanceof AppError ? new DamagedArchive() : error;
  }
}
