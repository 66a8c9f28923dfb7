import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { constants, createInflateRaw } from 'node:zlib';

/** Where compressed bytes are in a file. */
export interface FileRange {
  readonly start: number;
  readonly bytes: number;
}

/** Unpacks one segment of an archive. @throws the system's error, zlib's error for other bytes, the signal's reason on abort. */
export async function* inflateSegment(
  path: string,
  { start, bytes }: FileRange,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const source = createReadStream(path, { start, end: start + bytes - 1 });
  // A segment has no final block.
  const inflate = createInflateRaw({ chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(source, inflate, () => {}); // a failure reaches the loop below through `inflate`
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      yield chunk;
    }
  } finally {
    source.destroy();
  }
}
