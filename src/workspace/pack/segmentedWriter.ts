import { createHash } from 'node:crypto';
import { GZIP_HEADER } from '../archive/gzipMember.ts';
import type { GzipSegment, GzipWriter } from '../archive/gzipWriter.ts';
import { PieceCutter } from './pieceCutter.ts';
import type { FileContent } from './readAhead.ts';
import { type ArchiveSegment, PIECE_RECORD_BYTES, SegmentKey } from './segments.ts';

interface Written {
  readonly packed: GzipSegment;
  readonly files: number;
  readonly key: SegmentKey;
  readonly pieces: Buffer[];
}

/** Writes the segments of an archive and notes what is known of each. Without segments it only passes the bytes on. */
export class SegmentedWriter {
  readonly #gzip: GzipWriter;
  readonly #cutter: PieceCutter | undefined;
  readonly #onTar: ((bytes: Buffer) => void) | undefined;
  readonly #segments: (Written | ArchiveSegment)[] = [];
  #current: Written | undefined;

  constructor(
    gzip: GzipWriter,
    { isSegmented, onTar }: { readonly isSegmented: boolean; readonly onTar?: ((bytes: Buffer) => void) | undefined },
  ) {
    this.#onTar = onTar;
    this.#gzip = gzip;
    this.#cutter = isSegmented ? new PieceCutter() : undefined;
  }

  /** @param files how many files the segment gets. */
  async start(files: number): Promise<void> {
    if (this.#cutter === undefined) return;
    this.#cutter.end(this.#addPiece);
    this.#current = { packed: await this.#gzip.startSegment(), files, key: new SegmentKey(), pieces: [] };
    this.#segments.push(this.#current);
  }

  async write(bytes: Buffer): Promise<void> {
    this.#cutter?.write(bytes, this.#addPiece);
    this.#onTar?.(bytes);
    await this.#gzip.write(bytes);
  }

  addToKey({ file, stats, openedAt }: FileContent): void {
    this.#current?.key.add(file, stats, openedAt);
  }

  /** Writes a segment of an earlier archive. */
  async copy(segment: ArchiveSegment, packed: AsyncIterable<Buffer>): Promise<void> {
    this.#cutter?.end(this.#addPiece);
    await this.#gzip.append(segment, packed);
    this.#segments.push({ ...segment, part: null });
  }

  /** Adds a segment of an earlier archive whose bytes stay where they are. */
  async refer(segment: ArchiveSegment, part: string): Promise<void> {
    this.#cutter?.end(this.#addPiece);
    await this.#gzip.append(segment);
    this.#segments.push({ ...segment, part });
  }

  /** All segments, after the end of the archive. */
  end(): readonly ArchiveSegment[] {
    this.#cutter?.end(this.#addPiece);
    let end = GZIP_HEADER.length;
    return this.#segments.map((segment) => {
      const complete = 'packed' in segment ? completed(segment) : segment;
      if (complete.part !== null) return complete;
      const start = end;
      end += complete.packedBytes;
      return { ...complete, start };
    });
  }

  readonly #addPiece = (piece: Buffer): void => {
    const record = Buffer.allocUnsafe(PIECE_RECORD_BYTES);
    createHash('sha256').update(piece).digest().copy(record);
    record.writeUInt32LE(piece.length, PIECE_RECORD_BYTES - 4);
    this.#current?.pieces.push(record);
  };
}

function completed({ packed, files, key, pieces }: Written): ArchiveSegment {
  const own = { files, key: files === 0 ? null : key.end(), pieces: Buffer.concat(pieces) };
  return { ...packed, ...own, part: null, start: 0 };
}
