import { constants, type ZstdDecompress, zstdDecompressSync } from 'node:zlib';
import { freeMemory } from '../../core/files/ownMemory.ts';
import { MAX_FRAME_BYTES, MAX_PIECE_BYTES } from '../protocol/contents.ts';
import { readRawFrame } from './rawFrame.ts';

// A frame states how much memory it needs. Usual compression levels of such small pieces need 8 MB at most.
const WINDOW_LOG = 23;
// Every piece is unpacked into a single buffer that is larger than any piece, which shows that it is complete. Several buffers would be
// left to the garbage collector.
const CHUNK_BYTES = MAX_PIECE_BYTES + 1;

interface Unpacked {
  readonly buffer: Buffer<ArrayBuffer>;
  readonly engine: ZstdDecompress;
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
