import { AppError } from '../../core/errors.ts';
import { corrupt, decodeName, headerField, numberOf, type PaxRecords, parsePax, refused } from './tarFields.ts';
import type { FileTime } from '../files/fileTime.ts';
import { BLOCK_BYTES, checksumOf, decodeTimes, paddingOf } from './tarFormat.ts';

type EntryType = 'file' | 'directory' | 'symbolic link' | 'hard link' | 'device' | 'pipe';

export interface TarEntry {
  /** As in the archive, not yet checked. */
  readonly name: string;
  readonly type: EntryType;
  readonly size: number;
  readonly mode: number;
  /** Absent if the archive has none, or one that is not a time. */
  readonly mtime?: FileTime;
}

/** Receives the entries of an archive in order. An error thrown here ends the reading. */
export interface TarSink {
  begin(entry: TarEntry): void;
  /** A part of the current file's body; the bytes are valid only during the call. */
  data(bytes: Buffer): void;
  end(): void;
  /** The times of the next files in the order of the archive, from its beginning. They come after the last file. */
  takeTimes?(times: readonly string[]): void;
}

/** A position in an archive at which reading can continue, which is never inside a header. */
export interface TarPosition {
  /** The bytes of the current file that follow. */
  readonly body: number;
  /** Those after it up to the next header. */
  readonly padding: number;
  readonly emptyBlocks: number;
}

const MOST_META_BYTES = 1 << 20;
const EMPTY_BLOCK = Buffer.alloc(BLOCK_BYTES);
const TYPES: Readonly<Record<string, EntryType>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file', // contiguous: a regular file everywhere
  '1': 'hard link',
  '2': 'symbolic link',
  '3': 'device',
  '4': 'device',
  '5': 'directory',
  '6': 'pipe',
};

/**
 * A strict reader of tar archives (v7, ustar, pax, GNU long names). It is synchronous and copies nothing.
 *
 * Anything ambiguous is an error: wrong checksums, sizes for entries without a body, incomplete bodies, bytes after the end,
 * contradictory pax headers, sparse files, unknown types.
 */
export class TarReader {
  readonly #sink: TarSink;
  readonly #block = Buffer.alloc(BLOCK_BYTES);
  #blockFilled = 0;
  #bodyLeft = 0;
  #padding = 0;
  #meta: { readonly type: string; readonly body: Buffer; filled: number } | undefined;
  #pax: PaxRecords | undefined;
  #longName: string | undefined;
  #hasLongLink = false;
  #emptyBlocks = 0;

  constructor(sink: TarSink) {
    this.#sink = sink;
  }

  /** @throws AppError `corrupt` or `refused`, and the sink's errors. */
  write(chunk: Buffer): void {
    for (let offset = 0; offset < chunk.length; ) {
      if (this.#bodyLeft > 0) {
        const end = Math.min(chunk.length, offset + this.#bodyLeft);
        this.#takeBody(chunk.subarray(offset, end));
        offset = end;
      } else if (this.#padding > 0) {
        const skipped = Math.min(chunk.length - offset, this.#padding);
        this.#padding -= skipped;
        offset += skipped;
      } else if (this.#blockFilled === 0 && chunk.length - offset >= BLOCK_BYTES) {
        this.#takeHeader(chunk.subarray(offset, offset + BLOCK_BYTES));
        offset += BLOCK_BYTES;
      } else {
        const copied = chunk.copy(this.#block, this.#blockFilled, offset);
        this.#blockFilled += copied;
        offset += copied;
        if (this.#blockFilled < BLOCK_BYTES) continue;
        this.#blockFilled = 0;
        this.#takeHeader(this.#block);
      }
    }
  }

  /**
   * Skips bytes inside the body of a file, whose contents do not matter. @returns false if they may not be inside one, so that they must be
   * written.
   */
  skip(bytes: number): boolean {
    if (this.#meta !== undefined || bytes > this.#bodyLeft) return false;
    this.#bodyLeft -= bytes;
    if (this.#bodyLeft === 0) this.#sink.end();
    return true;
  }

  /** Undefined inside a header. */
  get position(): TarPosition | undefined {
    if (this.#meta !== undefined || this.#blockFilled > 0 || this.#hasPending()) return undefined;
    return { body: this.#bodyLeft, padding: this.#padding, emptyBlocks: this.#emptyBlocks };
  }

  /** Continues after bytes whose entries the sink has already received. `position` must not be undefined. */
  continueAt({ body, padding, emptyBlocks }: TarPosition): void {
    this.#bodyLeft = body;
    this.#padding = padding;
    this.#emptyBlocks = emptyBlocks;
  }

  /** @throws AppError `corrupt` if the archive is incomplete. */
  end(): void {
    if (this.#bodyLeft > 0 || this.#padding > 0 || this.#blockFilled > 0)
      throw corrupt('it ends in the middle of an entry');
    if (this.#emptyBlocks < 2) throw corrupt('its end is missing');
  }

  #takeBody(bytes: Buffer): void {
    this.#bodyLeft -= bytes.length;
    if (this.#meta === undefined) {
      this.#sink.data(bytes);
      if (this.#bodyLeft === 0) this.#sink.end();
      return;
    }
    this.#meta.filled += bytes.copy(this.#meta.body, this.#meta.filled);
    if (this.#bodyLeft > 0) return;
    const { type, body } = this.#meta;
    this.#meta = undefined;
    this.#takeMeta(type, body);
  }

  #takeHeader(header: Buffer): void {
    if (header[0] === 0 && header.equals(EMPTY_BLOCK)) {
      if (this.#hasPending()) throw corrupt('a header for the next entry is not followed by one');
      this.#emptyBlocks += 1;
      return;
    }
    if (this.#emptyBlocks > 0) throw corrupt('there are bytes after its end');
    if (numberOf(header, 148, 8, 'checksum') !== checksumOf(header)) throw corrupt('the checksum of an entry is wrong');
    const type = String.fromCharCode(header[156] ?? 0);
    const size = numberOf(header, 124, 12, 'size');
    if (type === 'x' || type === 'g' || type === 'L' || type === 'K') this.#beginMeta(type, size);
    else this.#beginEntry(header, type, size);
  }

  #hasPending(): boolean {
    return this.#pax !== undefined || this.#longName !== undefined || this.#hasLongLink;
  }

  #beginMeta(type: string, size: number): void {
    if (size > MOST_META_BYTES)
      throw new AppError('limit', 'The archive was refused: a name in it is longer than 1 MB.');
    if (size === 0) throw corrupt('a header for the next entry is empty');
    const isRepeated =
      type === 'L' ? this.#longName !== undefined : type === 'K' ? this.#hasLongLink : this.#hasPending();
    if (isRepeated || this.#pax !== undefined) throw refused('two headers describe the same entry');
    this.#meta = { type, body: Buffer.alloc(size), filled: 0 };
    this.#bodyLeft = size;
    this.#padding = paddingOf(size);
  }

  #takeMeta(type: string, body: Buffer): void {
    switch (type) {
      case 'x':
        this.#pax = parsePax(body);
        return;
      case 'g': {
        // `git archive` stores its commit here. Records that would change all following entries are refused.
        const { comment, mtime: _, ...changes } = parsePax(body);
        if (Object.keys(changes).length > 0) throw refused('a header changes the names or sizes of all entries');
        const times = decodeTimes(comment ?? '');
        if (times !== undefined) this.#sink.takeTimes?.(times);
        return;
      }
      default: {
        const end = body.indexOf(0);
        const name = body.subarray(0, end === -1 ? body.length : end);
        if (name.length === 0 || !body.subarray(name.length).every((byte) => byte === 0)) {
          throw refused('a long name is empty or contains a NUL');
        }
        if (type === 'L') this.#longName = decodeName(name);
        else this.#hasLongLink = true;
      }
    }
  }

  #beginEntry(header: Buffer, flag: string, headerSize: number): void {
    const name = this.#pax?.path ?? this.#longName ?? shortName(header);
    const size = this.#pax?.size ?? headerSize;
    const mode = numberOf(header, 100, 8, 'mode');
    const mtime = this.#pax?.mtime ?? shortTime(header);
    const entryType = TYPES[flag];
    if (entryType === undefined) throw refused(`${JSON.stringify(name)} has the unknown type ${JSON.stringify(flag)}`);
    // Before ustar, a folder was a file whose name ends with a slash.
    const type = entryType === 'file' && name.endsWith('/') ? 'directory' : entryType;
    if (type !== 'file' && size !== 0) throw refused(`${JSON.stringify(name)} is a ${type} with a size`);
    this.#pax = undefined;
    this.#longName = undefined;
    this.#hasLongLink = false;
    this.#bodyLeft = size;
    this.#padding = paddingOf(size);
    this.#sink.begin({ name, type, size, mode, ...(mtime !== undefined && { mtime }) });
    if (size === 0) this.#sink.end();
  }
}

/** Undefined for 0, which writers use that know no time. */
function shortTime(header: Buffer): FileTime | undefined {
  const text = headerField(header, 136, 12).toString('latin1').trim();
  return /^[0-7]*[1-7][0-7]*$/.test(text) ? String(Number.parseInt(text, 8)) : undefined;
}

function shortName(header: Buffer): string {
  const magic = header.toString('latin1', 257, 265);
  const name = decodeName(headerField(header, 0, 100));
  if (magic === 'ustar\u000000') {
    const prefix = decodeName(headerField(header, 345, 155));
    return prefix === '' ? name : `${prefix}/${name}`;
  }
  if (magic === 'ustar  \0' || magic === '\0'.repeat(8)) return name;
  throw corrupt('the format of an entry is unknown');
}
