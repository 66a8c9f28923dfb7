import { GZIP_HEADER } from '../archive/gzipMember.ts';
import type { GzipSegment, GzipWriter } from '../archive/gzipWriter.ts';
import { encodeHeader, type TarFile } from '../archive/tarFormat.ts';
import { PieceRecords } from './pieceRecords.ts';
import type { FileContent } from './readAhead.ts';
import { type ArchiveSegment, SegmentKey } from './segments.ts';

interface Written {
  readonly packed: GzipSegment;
  readonly files: number;
  readonly key: SegmentKey;
  pieces: Buffer;
}

const NO_PIECES = Buffer.alloc(0);

/** Writes the segments of an archive, and records the metadata of each. Without segments, it only passes the bytes on. */
export class SegmentedWriter {
  readonly #gzip: GzipWriter;
  readonly #records: PieceRecords | undefined;
  readonly #onTar: ((bytes: Buffer) => void) | undefined;
  readonly #segments: (Written | ArchiveSegment)[] = [];
  #current: Written | undefined;

  constructor(
    gzip: GzipWriter,
    { isSegmented, onTar }: { readonly isSegmented: boolean; readonly onTar?: ((bytes: Buffer) => void) | undefined },
  ) {
    this.#onTar = onTar;
    this.#gzip = gzip;
    this.#records = isSegmented ? new PieceRecords() : undefined;
  }

  /** @param files how many files the segment gets. */
  async start(files: number): Promise<void> {
    if (this.#records === undefined) return;
    this.#endPieces();
    this.#current = { packed: await this.#gzip.startSegment(), files, key: new SegmentKey(), pieces: NO_PIECES };
    this.#segments.push(this.#current);
  }

  /** Writes the header of a file. The pieces of its segment have one without its time, so that they depend on contents alone. */
  async writeHeader(file: TarFile): Promise<void> {
    const { mtime: _, ...timeless } = file;
    const header = encodeHeader(timeless);
    this.#records?.write(header);
    this.#onTar?.(header);
    await this.#gzip.write(encodeHeader(file));
  }

  async write(bytes: Buffer): Promise<void> {
    this.#records?.write(bytes);
    this.#onTar?.(bytes);
    await this.#gzip.write(bytes);
  }

  addToKey({ file, stats, openedAt }: FileContent): void {
    this.#current?.key.add(file, stats, openedAt);
  }

  /** Copies a segment of an earlier archive. */
  async copy(segment: ArchiveSegment, packed: AsyncIterable<Buffer>): Promise<void> {
    this.#endPieces();
    await this.#gzip.append(segment, packed);
    this.#segments.push({ ...segment, part: null });
  }

  /** Adds a segment of an earlier archive whose bytes stay where they are. */
  async refer(segment: ArchiveSegment, part: string): Promise<void> {
    this.#endPieces();
    await this.#gzip.append(segment);
    this.#segments.push({ ...segment, part });
  }

  /** All segments, after the end of the archive. */
  end(): readonly ArchiveSegment[] {
    this.#endPieces();
    let end = GZIP_HEADER.length;
    return this.#segments.map((segment) => {
      const complete = 'packed' in segment ? completed(segment) : segment;
      if (complete.part !== null) return complete;
      const start = end;
      end += complete.packedBytes;
      return { ...complete, start };
    });
  }

  /** Must be called before each segment, because no piece spans two segments. */
  #endPieces(): void {
    if (this.#records === undefined || this.#current === undefined) return;
    this.#current.pieces = this.#records.end();
    this.#current = undefined;
  }
}

function completed({ packed, files, key, pieces }: Written): ArchiveSegment {
  const segment = { files, key: files === 0 ? null : key.end(), pieces };
  return { ...packed, ...segment, part: null, start: 0 };
}
