import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';
import { AppError } from '../../core/errors.ts';
import type { ByteSink } from '../../workspace/archive/gzipWriter.ts';
import { unpackPiece } from '../../remote/transfers/unpackPiece.ts';

/** How such a file begins, and no gzip file does. */
export const FRAMES_MAGIC: Buffer = Buffer.from('FWF1');
// The length of a frame and its CRC-32, both as 32 bits, little-endian.
const HEADER_BYTES = 8;
const WRITE_BYTES = 1 << 20;

/** Writes a tar stream as the compressed pieces that it consists of. They are not compressed again, which would take most of the time. */
export class FrameWriter {
  readonly #sink: ByteSink;
  #open: Buffer[] = [FRAMES_MAGIC];
  #openBytes = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Keeps the frame for a while, so it must not change. */
  async write(frame: Buffer): Promise<void> {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(frame.length, 0);
    header.writeUInt32LE(crc32(frame), 4);
    this.#open.push(header, frame);
    this.#openBytes += frame.length;
    if (this.#openBytes >= WRITE_BYTES) await this.end();
  }

  async end(): Promise<void> {
    const bytes = Buffer.concat(this.#open);
    this.#open = [];
    this.#openBytes = 0;
    await this.#sink(bytes);
  }
}

/** The tar stream in a file of frames. @throws AppError `corrupt` for a damaged file, the system's error. */
export async function* readFrames(path: string): AsyncGenerator<Buffer, void> {
  let held: Buffer = Buffer.alloc(0);
  const source = createReadStream(path, { start: FRAMES_MAGIC.length, highWaterMark: WRITE_BYTES });
  for await (const chunk of source as AsyncIterable<Buffer>) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + held.readUInt32LE(0);
      if (held.length < end) break;
      const frame = held.subarray(HEADER_BYTES, end);
      const piece = crc32(frame) === held.readUInt32LE(4) ? unpackPiece(frame) : undefined;
      if (piece === undefined) throw damaged(path);
      yield piece;
      held = held.subarray(end);
    }
  }
  if (held.length > 0) throw damaged(path);
}

function damaged(path: string): AppError {
  return new AppError(
    'corrupt',
    `${path} is damaged, so the workspace of the job cannot be written again. Submit again.`,
  );
}
