import type { FileHandle } from 'node:fs/promises';
import pLimit from 'p-limit';
import { NAME_BYTES, nameOfPiece, RECORD_BYTES } from '../../remote/protocol/contents.ts';
import { gunzipFile } from '../../workspace/archive/gzipReader.ts';
import { PieceCutter } from '../../workspace/pack/pieceCutter.ts';

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

/** A record for each piece of a tar stream, as the protocol has them. */
export class PieceRecords {
  readonly #cutter = new PieceCutter();
  readonly #records: Buffer[] = [];

  readonly write = (bytes: Buffer): void => this.#cutter.write(bytes, this.#add);

  end(): Buffer {
    this.#cutter.end(this.#add);
    return Buffer.concat(this.#records);
  }

  readonly #add = (piece: Buffer): void => {
    const record = Buffer.allocUnsafe(RECORD_BYTES);
    nameOfPiece(piece).copy(record);
    record.writeUInt32LE(piece.length, NAME_BYTES);
    this.#records.push(record);
  };
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
    const known = this.#kept.get(job);
    if (known !== undefined) {
      this.#keep(job, known);
      return known;
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
  async *read(
    archive: FileHandle,
    { records, wanted, signal }: WantedPieces,
  ): AsyncGenerator<{ readonly name: Buffer; readonly bytes: Buffer }, void> {
    let left = 0;
    for (let index = 0; index * RECORD_BYTES < records.length; index += 1) if (isWanted(wanted, index)) left += 1;
    let held: Buffer = Buffer.alloc(0);
    let index = 0;
    for await (const chunk of gunzipFile(archive, { signal, onBytes })) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (; left > 0; index += 1) {
        const at = index * RECORD_BYTES;
        const size = records.readUInt32LE(at + NAME_BYTES);
        if (size > held.length) break;
        if (isWanted(wanted, index)) {
          // Its own memory, because it is compressed in another thread meanwhile.
          yield { name: records.subarray(at, at + NAME_BYTES), bytes: Buffer.from(held.subarray(0, size)) };
          left -= 1;
        }
        held = held.subarray(size);
      }
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

function isWanted(wanted: Buffer, index: number): boolean {
  return ((wanted[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

async function cut(archive: FileHandle): Promise<Buffer> {
  const records = new PieceRecords();
  for await (const chunk of gunzipFile(archive, { onBytes })) records.write(chunk);
  return records.end();
}
