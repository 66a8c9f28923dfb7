import { constants, type ZstdDecompress, zstdDecompressSync } from 'node:zlib';
import { freeMemory } from '../../core/files/ownMemory.ts';
import { MAX_FRAME_BYTES, MAX_PIECE_BYTES } from '../protocol/contents.ts';

// RFC 8878, section 3.1.1: the magic number, then a descriptor for a frame of a single segment whose size follows in 32 bits.
const MAGIC_AND_DESCRIPTOR = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]);
const HEADER_BYTES = MAGIC_AND_DESCRIPTOR.length + 4;
// A block begins with 24 bits, little-endian: whether it is the last, two bits for its type, which is 0 for bytes as they are, and its
// size.
const BLOCK_HEADER_BYTES = 3;
const MAX_BLOCK_BYTES = 128 * 1024;
// Those of the largest piece. A frame can have any number of empty ones.
const MAX_BLOCKS = 2;

// A frame states how much memory it needs. Usual compression levels of such small pieces need 8 MB at most.
const WINDOW_LOG = 23;

// Every piece is unpacked into a single buffer that is larger than any piece, which shows that it is complete. Several buffers would be
// left to the garbage collector.
const CHUNK_BYTES = MAX_PIECE_BYTES + 1;

interface Unpacked {
  readonly buffer: Buffer<ArrayBuffer>;
  readonly engine: ZstdDecompress;
}

/** The parts of a Zstandard frame with bytes as they are, for those that do not compress: a compressor would take many times as long. */
export function rawFrame(bytes: Buffer): readonly Buffer[] {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC_AND_DESCRIPTOR.copy(header);
  header.writeUInt32LE(bytes.length, MAGIC_AND_DESCRIPTOR.length);
  const parts: Buffer[] = [header];
  for (let start = 0; start === 0 || start < bytes.length; start += MAX_BLOCK_BYTES) {
    const content = bytes.subarray(start, start + MAX_BLOCK_BYTES);
    const isLast = start + content.length === bytes.length;
    const block = Buffer.alloc(BLOCK_HEADER_BYTES);
    block.writeUIntLE((content.length << 3) | Number(isLast), 0, BLOCK_HEADER_BYTES);
    parts.push(block, content);
  }
  return parts;
}

/** The bytes of such a frame: a part of it if it has a single block, otherwise in memory of their own. Undefined for any other frame. */
export function readRawFrame(frame: Buffer): Buffer | undefined {
  if (frame.length < HEADER_BYTES || !frame.subarray(0, MAGIC_AND_DESCRIPTOR.length).equals(MAGIC_AND_DESCRIPTOR)) {
    return undefined;
  }
  const size = frame.readUInt32LE(MAGIC_AND_DESCRIPTOR.length);
  const blocks: Buffer[] = [];
  let found = 0;
  for (let at = HEADER_BYTES, isLast = false; !isLast; ) {
    if (at + BLOCK_HEADER_BYTES > frame.length || blocks.length === MAX_BLOCKS) return undefined;
    const head = frame.readUIntLE(at, BLOCK_HEADER_BYTES);
    const bytes = head >>> 3;
    isLast = (head & 1) === 1;
    at += BLOCK_HEADER_BYTES;
    const isRaw = (head & 0b110) === 0 && bytes <= Math.min(size, MAX_BLOCK_BYTES);
    // A frame of other blocks, or one that does not end where the frame does, is for the decompressor.
    if (!isRaw || at + bytes > frame.length || (isLast && at + bytes !== frame.length)) return undefined;
    blocks.push(frame.subarray(at, at + bytes));
    at += bytes;
    found += bytes;
  }
  if (found !== size) return undefined;
  const [only] = blocks;
  return blocks.length === 1 ? only : Buffer.concat(blocks, size);
}

/**
 * Undefined for anything but one frame of at most the largest piece, for which another thread would cost more than it saves.
 *
 * @returns bytes that are valid as long as those of the frame, of which they may be a part.
 */
export function unpackPiece(frame: Buffer): Buffer | undefined {
  if (frame.length > MAX_FRAME_BYTES) return undefined;
  const raw = readRawFrame(frame);
  if (raw !== undefined) return raw.length > MAX_PIECE_BYTES ? undefined : raw;
  try {
    const unpacked: unknown = zstdDecompressSync(frame, {
      maxOutputLength: MAX_PIECE_BYTES,
      chunkSize: CHUNK_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG },
      info: true,
    });
    // Bytes after the frame would be stored too, and other decoders might read them.
    return hasEngine(unpacked) && unpacked.engine.bytesWritten === frame.length ? unpacked.buffer : undefined;
  } catch {
    return undefined;
  }
}

/** Frees the memory of a piece that was unpacked, and that nothing else uses. */
export function freePiece(bytes: Buffer): void {
  freeMemory(bytes, CHUNK_BYTES);
}

/** The option `info` adds the engine, which the types of Node.js do not know. */
function hasEngine(unpacked: unknown): unpacked is Unpacked {
  return typeof unpacked === 'object' && unpacked !== null && 'engine' in unpacked;
}
