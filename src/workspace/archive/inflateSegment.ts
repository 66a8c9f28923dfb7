import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { constants } from 'node:zlib';
import { systemCode } from '../../core/errors.ts';
import { type FileRange, inflateFile } from './inflateFile.ts';

/** A stored archive does not match its segments. */
export class DamagedArchive extends Error {
  override readonly name = 'DamagedArchive';

  constructor() {
    super(
      'The files that were packed before are damaged on this disk. Submit the folder again with all files read again.',
    );
  }
}

/** Unpacks one segment of an archive. @throws DamagedArchive for other bytes or a file that is gone, the system's error, the signal's reason on abort. */
export async function* inflateSegment(
  path: string,
  range: FileRange,
  signal?: AbortSignal,
): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  try {
    await using file = await open(path, 'r');
    // A segment has no final block.
    const options = { chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH, signal };
    for await (const chunk of inflateFile(file, range, options) as AsyncIterable<Buffer<ArrayBuffer>>) {
      signal?.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw damaged(error);
  }
}

/** The compressed bytes of one segment. @throws as `inflateSegment`, but damaged bytes are not detected. */
export async function* readPackedSegment(
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
