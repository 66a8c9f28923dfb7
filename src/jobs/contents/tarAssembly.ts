import { type FileHandle, open } from 'node:fs/promises';
import type { TarSource } from '../../workspace/archive/assembledTar.ts';
import { isZero } from '../../workspace/files/holes.ts';
import { MAX_PIECE_BYTES, NAME_BYTES, nameOfPiece, RECORD_BYTES } from '../../remote/protocol/contents.ts';

interface Place {
  /** The first record of the piece. */
  readonly index: number;
  readonly size: number;
  /** Where it begins in the tar stream, each time that it occurs. */
  readonly starts: number[];
}

/** The part of a file on this machine that a piece is. */
export type PieceSource = Pick<TarSource, 'path' | 'position' | 'mark'>;

/** A tar stream that is put together from pieces in any order: in a file, and of parts of other files, which are not copied. */
export class TarAssembly implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #lacking: Map<string, Place>;
  readonly #count: number;
  readonly totalBytes: number;
  readonly #sources: TarSource[] = [];
  #doneBytes = 0;

  private constructor(file: FileHandle, { lacking, count, bytes }: NonNullable<ReturnType<typeof placesOf>>) {
    this.#file = file;
    this.#lacking = lacking;
    this.#count = count;
    this.totalBytes = bytes;
  }

  /**
   * @param records of all pieces, as the protocol has them.
   * @param path of the file, which must not exist.
   * @returns undefined if the records are not valid, or the stream is larger than `maxBytes`.
   */
  static async create(records: Buffer, path: string, maxBytes: number): Promise<TarAssembly | undefined> {
    const places = placesOf(records);
    if (places === undefined || places.bytes > maxBytes) return undefined;
    return new TarAssembly(await open(path, 'wx', 0o600), places);
  }

  get doneBytes(): number {
    return this.#doneBytes;
  }

  get isComplete(): boolean {
    return this.#lacking.size === 0;
  }

  isLacking(name: Buffer): boolean {
    return this.#lacking.has(name.toString('latin1'));
  }

  /** The names of the pieces that it lacks, in hexadecimal. */
  lackingNames(): ReadonlySet<string> {
    return new Set([...this.#lacking.keys()].map((name) => Buffer.from(name, 'latin1').toString('hex')));
  }

  /** A bit for each record, which is 1 at the first of each piece that it lacks. */
  wanted(): Buffer {
    const bits = Buffer.alloc(Math.ceil(this.#count / 8));
    for (const { index } of this.#lacking.values()) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
    return bits;
  }

  /** The parts of the stream that are not in the file, in order. */
  sources(): readonly TarSource[] {
    const joined: TarSource[] = [];
    for (const source of this.#sources.toSorted((one, other) => one.start - other.start)) {
      const last = joined.at(-1);
      const isNext =
        last?.path === source.path &&
        last.mark === source.mark &&
        last.start + last.bytes === source.start &&
        last.position + last.bytes === source.position;
      if (isNext) joined[joined.length - 1] = { ...last, bytes: last.bytes + source.bytes };
      else joined.push(source);
    }
    return joined;
  }

  /**
   * Adds a piece wherever it occurs.
   *
   * @param from the part of a file that it is, which is then read in place of a copy.
   * @returns false if it is not one that is lacking, or has other bytes than its name says.
   */
  async put(name: Buffer, bytes: Buffer, from?: PieceSource): Promise<boolean> {
    const key = name.toString('latin1');
    const place = this.#lacking.get(key);
    if (place === undefined || bytes.length !== place.size || !nameOfPiece(bytes).equals(name)) return false;
    // The file is new, so what is not written of it is zeros.
    for (const start of isZero(bytes) ? [] : place.starts) {
      if (from !== undefined) {
        this.#sources.push({ ...from, start, bytes: bytes.length });
        continue;
      }
      for (let done = 0; done < bytes.length; ) {
        done += (await this.#file.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
      }
    }
    this.#lacking.delete(key);
    this.#doneBytes += bytes.length * place.starts.length;
    if (this.isComplete) await this.#file.truncate(this.totalBytes);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

function placesOf(records: Buffer) {
  const lacking = new Map<string, Place>();
  const count = records.length / RECORD_BYTES;
  if (!Number.isInteger(count)) return undefined;
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    const at = index * RECORD_BYTES;
    const key = records.toString('latin1', at, at + NAME_BYTES);
    const size = records.readUInt32LE(at + NAME_BYTES);
    const piece = lacking.get(key);
    if (size === 0 || size > MAX_PIECE_BYTES || (piece !== undefined && piece.size !== size)) return undefined;
    if (piece === undefined) lacking.set(key, { index, size, starts: [bytes] });
    else piece.starts.push(bytes);
    bytes += size;
  }
  return { lacking, count, bytes };
}
