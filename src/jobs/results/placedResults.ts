import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import { RECORD_BYTES } from '../../remote/protocol/contents.ts';
import { encodeHeader, paddingOf, type TarFile } from '../../workspace/archive/tarFormat.ts';
import { type OpenFile, openRegularFile } from '../../workspace/files/fileReading.ts';
import { piecesIn } from '../../workspace/pack/pieceRecords.ts';
import { markOf } from '../../workspace/files/localFile.ts';
import type { Piece } from '../../workspace/pack/splitPieces.ts';
import type { PieceSource } from '../contents/tarAssembly.ts';
import type { JobRecord } from '../ledger/record.ts';

const FORMAT = 1;
const KEPT_MS = 90 * 24 * 3600_000;
const ZEROS = Buffer.alloc(512);
const BLOCK_BYTES = 1 << 20;
const NOTHING = { start: 0, end: 0 };

const storedResults = z.object({
  format: z.literal(FORMAT),
  records: z.base64().transform((text) => Buffer.from(text, 'base64')),
  files: z.array(z.tuple([z.string(), z.int().nonnegative(), z.int().nonnegative(), z.string()])),
});

/** A file of results. */
export interface PlacedFile extends TarFile {
  /** Absolute path of the file that was written from it, or of one like it. */
  readonly at: string;
}

export interface PlacedArchive {
  /** Of the pieces of its tar stream, as the protocol has them. */
  readonly records: Buffer;
  /** In the order of the archive. */
  readonly files: readonly PlacedFile[];
}

/** Where a part of a tar stream is. */
interface Span {
  readonly start: number;
  readonly length: number;
  /** The bytes themselves, or the path of a file that has them. */
  readonly from: Buffer | string;
}

/**
 * The contents of the last results of a folder, so that the next ones can be assembled from files on this machine. Only results that the
 * same account got from the same service count, so that a service cannot find out what else is in the folder.
 */
export class PlacedResults {
  readonly #folder: string;

  /** @param home FARWHARF_HOME. */
  constructor(home: string) {
    this.#folder = join(home, 'placed');
  }

  /** Notes the results of a job in place of earlier ones, and forgets those of folders without results for 90 days. */
  async write(record: JobRecord, { records, files }: PlacedArchive): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const list = files.map(({ path, size, mode, at }) => [path, size, mode, at]);
    const text = JSON.stringify({ format: FORMAT, records: records.toString('base64'), files: list });
    await writeAtomically(this.#path(record), text);
    const now = Date.now();
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const time = (await stat(path).catch(() => undefined))?.mtimeMs ?? now;
      if (now - time > KEPT_MS) await rm(path, { force: true });
    }
  }

  /** The pieces of the last results of a job's folder with these names, in hexadecimal. They may have been changed since. */
  async *read(
    record: JobRecord,
    wanted: ReadonlySet<string>,
  ): AsyncGenerator<Piece & { readonly from?: PieceSource }, void> {
    const placed = await this.#load(record);
    if (placed === undefined) return;
    await using reader = new SpanReader(spansOf(placed.files));
    let start = 0;
    for (const { name, size } of piecesIn(placed.records)) {
      const part = wanted.has(name.toString('hex')) ? await reader.read(start, size) : undefined;
      if (part !== undefined) yield { name, ...part };
      start += size;
    }
  }

  async #load(record: JobRecord): Promise<PlacedArchive | undefined> {
    const { data } = storedResults.safeParse(tryParseJson(await ifThere(readFile(this.#path(record), 'utf8'), '')));
    if (data === undefined || data.records.length % RECORD_BYTES !== 0) return undefined;
    return { records: data.records, files: data.files.map(([path, size, mode, at]) => ({ path, size, mode, at })) };
  }

  #path({ host, account, folder }: JobRecord): string {
    return join(this.#folder, `${hash('sha256', JSON.stringify([host, account, folder]))}.json`);
  }
}

/** The tar stream of files that is cut into pieces, but for the list of their times before its end, which only the service has. */
function spansOf(files: readonly PlacedFile[]): readonly Span[] {
  const spans: Span[] = [];
  let start = 0;
  const add = (from: Buffer | string, length: number): void => {
    if (length > 0) spans.push({ start, length, from });
    start += length;
  };
  for (const file of files) {
    const { path, size, mode } = file;
    const header = encodeHeader({ path, size, mode });
    add(header, header.length);
    add(file.at, file.size);
    add(ZEROS, paddingOf(file.size));
  }
  for (let blocks = 0; blocks < 2; blocks += 1) add(ZEROS, ZEROS.length);
  return spans;
}

/** Reads parts of a tar stream, in order. */
class SpanReader implements AsyncDisposable {
  readonly #spans: readonly Span[];
  #next = 0;
  #open: { readonly path: string; readonly file: OpenFile | undefined; readonly mark: string } | undefined;
  /** The last bytes that were read from it. */
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #held: { readonly start: number; readonly end: number } = NOTHING;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  /** Undefined if the stream or a file is shorter, or a file is gone. */
  async read(
    start: number,
    size: number,
  ): Promise<{ readonly bytes: Buffer<ArrayBuffer>; readonly from?: PieceSource } | undefined> {
    const bytes = Buffer.allocUnsafeSlow(size);
    let filled = 0;
    let from: PieceSource | undefined;
    for (let index = this.#next; filled < size; index += 1) {
      const span = this.#spans[index];
      if (span === undefined) return undefined;
      const skipped = start + filled - span.start;
      if (skipped >= span.length) continue;
      this.#next = index;
      const length = Math.min(span.length - skipped, size - filled);
      if (typeof span.from !== 'string') span.from.copy(bytes, filled, skipped, skipped + length);
      else if (!(await this.#readFile(span.from, bytes.subarray(filled, filled + length), skipped))) return undefined;
      else if (length === size) from = { path: span.from, position: skipped, mark: this.#open?.mark ?? '' };
      filled += length;
    }
    return from === undefined ? { bytes } : { bytes, from };
  }

  async #readFile(path: string, into: Buffer, position: number): Promise<boolean> {
    if (this.#open?.path !== path) {
      await this[Symbol.asyncDispose]();
      const file = await openRegularFile(path, path).catch(() => undefined);
      this.#open = { path, file, mark: file === undefined ? '' : markOf(file.stats) };
    }
    for (let filled = 0; filled < into.length; ) {
      const at = position + filled;
      if (at < this.#held.start || at >= this.#held.end) {
        const read = await this.#open?.file?.handle.read(this.#block, 0, BLOCK_BYTES, at).catch(() => undefined);
        this.#held = { start: at, end: at + (read?.bytesRead ?? 0) };
        if (this.#held.end === at) return false;
      }
      filled += this.#block.copy(into, filled, at - this.#held.start, this.#held.end - this.#held.start);
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open?.file?.handle.close();
    this.#open = undefined;
    this.#held = NOTHING;
  }
}
