import { type FileHandle, open } from 'node:fs/promises';
import { crc32, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { AppError, systemCode } from '../../core/errors.ts';
import { inflateFile } from './inflateFile.ts';
import { corrupt } from './tarFields.ts';

const CHUNK_BYTES = 256 * 1024;
// A stream costs many times as much as unpacking this.
const AT_ONCE_BYTES = 64 * 1024;
const LEAST_CHUNK_BYTES = 4 * 1024;
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
const MOST_HEADER_BYTES = 64 * 1024;
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };

export interface GunzipOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called before each chunk with the bytes read from the file and the bytes unpacked so far. */
  readonly onBytes: (packed: number, unpacked: number) => void;
}

interface Frame {
  readonly start: number;
  /** The length of the compressed stream, without header and trailer. */
  readonly bytes: number;
  readonly crc: number;
  readonly size: number;
  /** The compressed stream itself if it is in memory. */
  readonly content: Buffer | undefined;
}

/**
 * Unpacks what is exactly one gzip member (RFC 1952), and checks its length and CRC-32 at the end. The chunks are not used again.
 *
 * @param archive the path of a file, or its bytes.
 * @throws AppError `corrupt` for anything else, including further members or bytes after the end, `missing` if the file cannot be
 * read; the errors of `onBytes`.
 */
export async function* gunzip(
  archive: string | Buffer,
  options: GunzipOptions,
): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  if (typeof archive !== 'string') {
    yield* inflate(frameIn(archive), options);
    return;
  }
  await using file = await open(archive, 'r').catch((error: unknown) => {
    throw new AppError('missing', `The archive ${archive} cannot be read. Download it again.`, { cause: error });
  });
  yield* gunzipFile(file, options);
}

/** The same for a file that is open, and stays open. */
export async function* gunzipFile(file: FileHandle, options: GunzipOptions): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  yield* inflate(await readFrame(file), options, file);
}

async function* inflate(
  frame: Frame,
  options: GunzipOptions,
  file?: FileHandle,
): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  const { start, bytes, content, size } = frame;
  if (content !== undefined && size <= AT_ONCE_BYTES) {
    yield* inflateAtOnce(frame, content, options);
    return;
  }
  // A small archive needs little memory. The size that it declares is trusted only for this.
  const chunkSize = Math.min(CHUNK_BYTES, Math.max(LEAST_CHUNK_BYTES, size));
  if (content !== undefined) {
    const inflate = createInflateRaw({ chunkSize });
    inflate.end(content);
    yield* inflateStream(frame, inflate, options);
  } else if (file !== undefined) {
    yield* inflateStream(frame, inflateFile(file, { start, bytes }, { chunkSize, signal: options.signal }), options);
  }
}

/** Unpacks a small member without a stream, and at most the size that it declares. */
function* inflateAtOnce(
  frame: Frame,
  content: Buffer,
  { signal, onBytes }: GunzipOptions,
): Generator<Buffer<ArrayBuffer>, void> {
  signal?.throwIfAborted();
  let result: { readonly buffer: Buffer<ArrayBuffer>; readonly engine: { readonly bytesWritten: number } };
  try {
    const options = { maxOutputLength: Math.max(1, frame.size), info: true };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `info` returns is missing in the types of Node.js
    result = inflateRawSync(content, options) as unknown as typeof result;
  } catch (error) {
    if (systemCode(error) === 'ERR_BUFFER_TOO_LARGE') throw corrupt('its checksum is wrong', error);
    throw brokenData(error);
  }
  const { buffer, engine } = result;
  const end = { packed: engine.bytesWritten, unpacked: buffer.length, crc: crc32(buffer) };
  if (buffer.length > 0) onBytes(frame.start + engine.bytesWritten, buffer.length);
  if (buffer.length > 0) yield buffer;
  checkEnd(frame, end);
}

async function* inflateStream(
  frame: Frame,
  inflate: InflateRaw,
  { signal, onBytes }: GunzipOptions,
): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  let crc = 0;
  let unpacked = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer<ArrayBuffer>>) {
      signal?.throwIfAborted();
      crc = crc32(chunk, crc);
      unpacked += chunk.length;
      onBytes(frame.start + inflate.bytesWritten, unpacked);
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw brokenData(error);
  }
  checkEnd(frame, { packed: inflate.bytesWritten, unpacked, crc });
}

function checkEnd(
  frame: Frame,
  { packed, unpacked, crc }: { readonly packed: number; readonly unpacked: number; readonly crc: number },
): void {
  if (packed !== frame.bytes) throw corrupt('there are bytes after its end');
  if (crc !== frame.crc || unpacked % 2 ** 32 !== frame.size) throw corrupt('its checksum is wrong');
}

function brokenData(error: unknown): unknown {
  if (systemCode(error)?.startsWith('Z_') !== true) return error;
  return corrupt('its compressed data is incomplete or not valid', error);
}

/**
 * Checks that the first bytes of a file are those of gzip (RFC 1952).
 *
 * @throws AppError `corrupt`.
 */
export function assertGzip(head: Uint8Array): void {
  if (head[0] !== 0x1f || head[1] !== 0x8b || head[2] !== 8) throw corrupt('it is not a gzip file');
}

async function readFrame(file: FileHandle): Promise<Frame> {
  const { size } = await file.stat();
  const head = Buffer.alloc(Math.min(size, MOST_HEADER_BYTES));
  await file.read(head, 0, head.length, 0);
  if (size === head.length) return frameIn(head);
  const start = headerLength(head);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  await file.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES);
  return { ...frameOf(start, size, trailer), content: undefined };
}

/** The frame of a member that is in memory. */
function frameIn(member: Buffer): Frame {
  const start = headerLength(member);
  const trailer = member.subarray(-TRAILER_BYTES);
  return { ...frameOf(start, member.length, trailer), content: member.subarray(start, member.length - TRAILER_BYTES) };
}

function frameOf(start: number, size: number, trailer: Buffer): Omit<Frame, 'content'> {
  if (size < start + TRAILER_BYTES + 1) throw corrupt('it is incomplete');
  const bytes = size - TRAILER_BYTES - start;
  return { start, bytes, crc: trailer.readUInt32LE(0), size: trailer.readUInt32LE(4) };
}

function headerLength(head: Buffer): number {
  assertGzip(head);
  const flags = head[3] ?? 0;
  if ((flags & FLAG.reserved) !== 0) throw corrupt('its gzip header uses reserved flags');
  let length = HEADER_BYTES;
  if ((flags & FLAG.extra) !== 0) length += 2 + (head[length] ?? 0) + 256 * (head[length + 1] ?? 0);
  for (const text of [FLAG.name, FLAG.comment]) {
    if ((flags & text) === 0) continue;
    const end = head.indexOf(0, length);
    if (end === -1) throw corrupt('its gzip header does not end');
    length = end + 1;
  }
  return (flags & FLAG.headerCrc) === 0 ? length : length + 2;
}
