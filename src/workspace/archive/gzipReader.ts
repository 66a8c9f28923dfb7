import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { AppError, systemCode } from '../../core/errors.ts';
import { corrupt } from './tarFields.ts';

const CHUNK_BYTES = 256 * 1024;
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
  /** The compressed stream itself if it is small, so that it is not read twice. */
  readonly content: Buffer | undefined;
}

/**
 * Unpacks a file that is exactly one gzip member (RFC 1952), and checks its length and CRC-32 at the end.
 *
 * @throws AppError `corrupt` for anything else, including further members or bytes after the end, `missing` if the file cannot be
 * read; the errors of `onBytes`.
 */
export async function* gunzip(path: string, options: GunzipOptions): AsyncGenerator<Buffer, void> {
  await using file = await open(path, 'r').catch((error: unknown) => {
    throw new AppError('missing', `The archive ${path} cannot be read. Download it again.`, { cause: error });
  });
  yield* gunzipFile(file, options);
}

/** The same for a file that is open, and stays open. */
export async function* gunzipFile(file: FileHandle, { signal, onBytes }: GunzipOptions): AsyncGenerator<Buffer, void> {
  const frame = await readFrame(file);
  const end = frame.start + frame.bytes - 1;
  const source =
    frame.content === undefined
      ? file.createReadStream({ start: frame.start, end, highWaterMark: CHUNK_BYTES, autoClose: false, signal })
      : Readable.from([frame.content]);
  // A small archive needs little memory. The size that it declares is trusted only for this.
  const inflate = createInflateRaw({ chunkSize: Math.min(CHUNK_BYTES, Math.max(LEAST_CHUNK_BYTES, frame.size)) });
  pipeline(source, inflate, () => {}); // a failure reaches the loop below through `inflate`
  let crc = 0;
  let unpacked = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      crc = crc32(chunk, crc);
      unpacked += chunk.length;
      onBytes(frame.start + inflate.bytesWritten, unpacked);
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (systemCode(error)?.startsWith('Z_')) throw corrupt('its compressed data is incomplete or not valid', error);
    throw error;
  } finally {
    source.destroy();
  }
  if (inflate.bytesWritten !== frame.bytes) throw corrupt('there are bytes after its end');
  if (crc !== frame.crc || unpacked % 2 ** 32 !== frame.size) throw corrupt('its checksum is wrong');
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
  const start = headerLength(head);
  if (size < start + TRAILER_BYTES + 1) throw corrupt('it is incomplete');
  const trailer = Buffer.alloc(TRAILER_BYTES);
  await file.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES);
  return {
    start,
    bytes: size - TRAILER_BYTES - start,
    crc: trailer.readUInt32LE(0),
    size: trailer.readUInt32LE(4),
    content: size === head.length ? head.subarray(start, size - TRAILER_BYTES) : undefined,
  };
}

function headerLength(head: Buffer): number {
  assertGzip(head);
  if (head.length < HEADER_BYTES) throw corrupt('it is incomplete');
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
