import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { constants, createInflateRaw } from 'node:zlib';
import { systemCode } from '../../core/errors.ts';

/** A stored archive does not match its segments. */
export class DamagedArchive extends Error {
  override readonly name = 'DamagedArchive';

  constructor() {
    super(
      'The files that were packed before are damaged on this disk. Submit the folder again with all files read again.',
    );
  }
}

/** Where compressed bytes are in a file. */
export interface FileRange {
  readonly start: number;
  readonly bytes: number;
}

/** Unpacks one segment of an archive. @throws DamagedArchive for other bytes or a file that is gone, the system's error, the signal's reason on abort. */
export async function* inflateSegment(
  path: string,
  { start, bytes }: FileRange,
  signal?: AbortSignal,
): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  const source = createReadStream(path, { start, end: start + bytes - 1 });
  // A segment has no final block.
  const inflate = createInflateRaw({ chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(source, inflate, () => {}); // a failure reaches the loop below through `inflate`
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer<ArrayBuffer>>) {
      signal?.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    throw damaged(error);
  } finally {
    source.destroy();
  }
}

/** The compressed bytes of one segment. @throws as `inflateSegment`, but damaged bytes are not detected. */
export async function* readSegment(
  path: string,
  { start, bytes }: FileRange,
): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  try {
    yield* createReadStream(path, { start, end: start + bytes - 1 }) as AsyncIterable<Buffer<ArrayBuffer>>;
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(error: unknown): unknown {
  const code = systemCode(error) ?? '';
  return code === 'ENOENT' || code.startsWith('Z_') ? new DamagedArchive() : error;
}
