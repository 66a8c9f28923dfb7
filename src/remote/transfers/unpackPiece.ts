import { constants, zstdDecompressSync } from 'node:zlib';
import { MAX_PIECE_BYTES } from '../protocol/contents.ts';

// A frame states how much memory it needs. Usual compression levels of such small pieces need 8 MB at most.
const WINDOW_LOG = 23;

/** Undefined for anything but one frame of at most the largest piece, for which another thread would cost more than it saves. */
export function unpackPiece(frame: Buffer): Buffer | undefined {
  try {
    return zstdDecompressSync(frame, {
      maxOutputLength: MAX_PIECE_BYTES,
      chunkSize: MAX_PIECE_BYTES / 2, // most pieces are unpacked at once
      params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG },
    });
  } catch {
    return undefined;
  }
}
