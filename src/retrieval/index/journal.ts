import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { systemCode } from '../../core/errors.ts';
import { ByteReader, ByteWriter } from '../segments/bytes.ts';
import type { Segment } from '../segments/segment.ts';
import { decodeSegment, encodeSegment } from '../segments/segmentFile.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';

// Before each entry: its length in bytes and their checksum.
const HEADER_BYTES = 2 * Uint32Array.BYTES_PER_ELEMENT;
// Without O_NONBLOCK, opening a pipe would wait until somebody reads from it.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** One change of an index: sources that replace older ones, and new times of files with the same bytes. */
export interface JournalEntry {
  readonly segment: Segment | undefined;
  readonly touched: ReadonlyMap<string, number>;
}

export interface JournalPart {
  readonly entries: readonly JournalEntry[];
  /** Where the last complete entry ends; anything after it is cut off or damaged. */
  readonly end: number;
}

/** Reads the complete entries from `from` on; none if the file does not exist. */
export async function readJournal(path: string, from = 0): Promise<JournalPart> {
  const bytes = await readFrom(path, from);
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: JournalEntry[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const [length, checksum] = [header.getUint32(at, true), header.getUint32(at + 4, true)];
    const body = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    // File systems leave zeros where they had no time to write. These are no entry, although their checksum is correct.
    if (length === 0 || body.length < length || crc32(body) !== checksum) break;
    const entry = decodeEntry(body);
    if (entry === undefined) break;
    entries.push(entry);
    at += HEADER_BYTES + length;
  }
  return { entries, end: from + at };
}

/** A file to which changes are appended, so that the cost is that of the change rather than that of the index. */
export class Journal {
  readonly path: string;
  #end: number;

  /** @param end where the last complete entry ends. */
  constructor(path: string, end: number) {
    this.path = path;
    this.#end = end;
  }

  get length(): number {
    return this.#end;
  }

  /** Appends an entry and waits for the disk. @throws the system's error; the entry is not stored then. */
  async append(entry: JournalEntry): Promise<void> {
    const body = encodeEntry(entry);
    const bytes = new Uint8Array(HEADER_BYTES + body.length);
    const header = new DataView(bytes.buffer);
    header.setUint32(0, body.length, true);
    header.setUint32(4, crc32(body), true);
    bytes.set(body, HEADER_BYTES);
    // Opened for each entry, which costs little compared to the wait for the disk, so that no journal needs to be closed.
    await using file = await openForAppend(this.path);
    try {
      // Remains of an earlier failure or kill after the last complete entry would hide the entries that follow.
      await file.truncate(this.#end);
      await file.appendFile(bytes);
      await file.datasync();
    } catch (error) {
      await file.truncate(this.#end).catch(() => {}); // the next append truncates it
      throw error;
    }
    this.#end += bytes.length;
  }
}

async function openForAppend(path: string): Promise<FileHandle> {
  try {
    return await open(path, APPEND, 0o600);
  } catch (error) {
    // A pipe that nobody reads.
    if (systemCode(error) !== 'ENXIO') throw error;
    await rm(path);
    return open(path, APPEND, 0o600);
  }
}

async function readFrom(path: string, from: number): Promise<Uint8Array> {
  const handle = await open(path, NON_BLOCKING_READ).catch(() => undefined);
  if (handle === undefined) return new Uint8Array();
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(Math.max(0, size - from));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    return bytes.subarray(0, bytesRead);
  } catch {
    return new Uint8Array();
  } finally {
    await handle.close();
  }
}

function encodeEntry({ segment, touched }: JournalEntry): Uint8Array {
  const writer = new ByteWriter();
  writer.varint(touched.size);
  for (const [path, mtimeMs] of touched) {
    writer.text(path);
    writer.double(mtimeMs);
  }
  if (segment !== undefined) writer.append(encodeSegment(segment));
  return writer.view();
}

function decodeEntry(bytes: Uint8Array): JournalEntry | undefined {
  const reader = new ByteReader(bytes);
  const touched = new Map<string, number>();
  for (let left = reader.varint(); left > 0; left -= 1) touched.set(reader.text(), reader.double());
  if (reader.at === bytes.length) return { segment: undefined, touched };
  const segment = decodeSegment(bytes.subarray(reader.at));
  return segment === undefined ? undefined : { segment, touched };
}
