import { crc32 } from 'node:zlib';
import { AppError } from '../../core/errors.ts';
import { unpackPiece } from '../../remote/transfers/pieceFrame.ts';

/** How joined frames begin, and no gzip file does. */
const MAGIC: Buffer = Buffer.from('FWF1');
// The length of a frame and its CRC-32, both as 32 bits, little-endian.
const HEADER_BYTES = 8;

/** Joins the compressed pieces that a tar stream consists of. They are not compressed again, which would take most of the time. */
export function joinFrames(frames: readonly Buffer[]): Buffer {
  const parts = frames.flatMap((frame) => {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(frame.length, 0);
    header.writeUInt32LE(crc32(frame), 4);
    return [header, frame];
  });
  return Buffer.concat([MAGIC, ...parts]);
}

/** Whether an archive consists of the pieces of a submission by content. */
export function isJoinedFrames(archive: Buffer): boolean {
  return archive.subarray(0, MAGIC.length).equals(MAGIC);
}

/** The tar stream of joined frames. @throws AppError `corrupt` if they are damaged. */
export function* readFrames(joined: Buffer): Generator<Buffer, void> {
  for (let rest = joined.subarray(MAGIC.length); rest.length > 0; ) {
    const end = rest.length < HEADER_BYTES ? Number.POSITIVE_INFINITY : HEADER_BYTES + rest.readUInt32LE(0);
    const frame = rest.subarray(HEADER_BYTES, end);
    const isWhole = end <= rest.length && crc32(frame) === rest.readUInt32LE(4);
    const piece = isWhole ? unpackPiece(frame) : undefined;
    if (piece === undefined) {
      const message = 'The stored archive of the job is damaged, so its workspace cannot be written. Submit again.';
      throw new AppError('corrupt', message);
    }
    yield piece;
    rest = rest.subarray(end);
  }
}
