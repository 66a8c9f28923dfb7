import type { FileHandle } from 'node:fs/promises';
import pLimit from 'p-limit';
import { gunzipFile } from '../../workspace/archive/gzipReader.ts';
import { TimelessTar } from '../../workspace/archive/timeless.ts';
import { PieceRecords, piecesIn } from '../../workspace/pack/pieceRecords.ts';
import { type Piece, splitPieces } from '../../workspace/pack/splitPieces.ts';

// The records of 2 GB are 1 MB.
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
const CUT_AT_ONCE = 2;
const onBytes = (): void => {};

interface WantedPieces {
  readonly records: Buffer;
  /** A bit for each record. */
  readonly wanted: Buffer;
  readonly signal: AbortSignal;
}

/**
 * The pieces of results. Those of recent jobs are known since their results were packed, and are kept in memory for a while; the archives of
 * others are cut when somebody asks.
 */
export class ResultPieces {
  /** By job, the ones used last at the end. */
  readonly #kept = new Map<string, Buffer>();
  readonly #cutting = new Map<string, Promise<Buffer>>();
  readonly #limit = pLimit(CUT_AT_ONCE);

  /** Notes the records of results that were packed. */
  note(job: string, records: Buffer): void {
    this.#keep(job, records);
  }

  /** A record for each piece of an archive, as the protocol has them. @throws AppError `corrupt` for a damaged archive. */
  async records(job: string, archive: FileHandle): Promise<Buffer> {
    const pieces = this.#kept.get(job);
    if (pieces !== undefined) {
      this.#keep(job, pieces);
      return pieces;
    }
    const running = this.#cutting.get(job);
    if (running !== undefined) return running;
    const cutting = this.#limit(() => cut(archive));
    this.#cutting.set(job, cutting);
    try {
      const records = await cutting;
      this.#keep(job, records);
      return records;
    } finally {
      this.#cutting.delete(job);
    }
  }

  /** The pieces of an archive that are wanted, in order. @throws as `records`; the signal's reason. */
  async *read(archive: FileHandle, { records, wanted, signal }: WantedPieces): AsyncGenerator<Piece, void> {
    let left = 0;
    for (const byte of wanted) for (let bits = byte; bits > 0; bits &= bits - 1) left += 1;
    if (left === 0) return;
    const isWanted = (_: Buffer, index: number): boolean => ((wanted[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    for await (const piece of splitPieces(gunzipFile(archive, { signal, onBytes }), piecesIn(records), isWanted)) {
      yield piece;
      left -= 1;
      if (left === 0) return;
    }
  }

  #keep(job: string, records: Buffer): void {
    this.#kept.delete(job);
    this.#kept.set(job, records);
    let bytes = [...this.#kept.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [other, { length }] of this.#kept) {
      if (bytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(other);
      bytes -= length;
    }
  }
}

async function cut(archive: FileHandle): Promise<Buffer> {
  const records = new PieceRecords();
  const timeless = new TimelessTar();
  for await (const chunk of gunzipFile(archive, { onBytes }))
    for (const part of timeless.write(chunk)) records.write(part);
  for (const part of timeless.finish()) records.write(part);
  return records.end();
}
