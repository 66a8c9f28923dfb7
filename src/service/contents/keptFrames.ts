import { crc32 } from 'node:zlib';
import { AppError } from '../../core/errors.ts';
import { unpackPiece } from '../../remote/transfers/pieceFrame.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import type { ContentStore } from './contentStore.ts';
import { PackReader } from './packReader.ts';
import { LackingContents, type SubmittedContents } from './submittedContents.ts';

/** How joined frames begin, and no gzip file does. */
const MAGIC: Buffer = Buffer.from('FWF1');
// The length of a frame and its CRC-32, both as 32 bits, little-endian.
const HEADER_BYTES = 8;

interface Assembly {
  readonly account: string;
  /** Receives the compressed pieces, in order. */
  readonly frames: Buffer[];
  readonly signal: AbortSignal;
}

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
export function* readFrames(bytes: Buffer): Generator<Buffer, void> {
  for (let rest = bytes.subarray(MAGIC.length); rest.length > 0; ) {
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

/**
 * The tar stream of the archive that a submission by content describes: the same as that of the client's archive, whose entries are then
 * checked like those of any other. Each part is valid until the next.
 *
 * @throws LackingContents if pieces are damaged.
 */
export async function* assembleArchive(
  store: Pick<ContentStore, 'read'>,
  { pieces }: SubmittedContents,
  { account, frames, signal }: Assembly,
): AsyncGenerator<Buffer, void> {
  await using reader = new PackReader();
  const yielder = new Yielder(signal);
  let isLacking = false;
  for (const { name } of pieces) {
    if (yielder.isDue) await yielder.pause();
    const piece = await store.read(account, name, reader);
    isLacking ||= piece === undefined;
    // The rest is still read, so that all damaged pieces are found at once, and are sent again together.
    if (isLacking || piece === undefined) continue;
    frames.push(Buffer.from(piece.frame));
    yield piece.bytes;
  }
  if (isLacking) throw new LackingContents();
}
