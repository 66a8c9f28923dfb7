import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RemoteError } from './errors.ts';
import type { Answer } from './exchange.ts';

/** The download chunk of the specification's section 8. */
const CHUNK_BYTES = 65_536;

/**
 * Writes the body to `dest`: under another name beside it first, so that `dest` is whole or untouched.
 *
 * @throws RemoteError when fewer or more bytes come than were announced, and the system's error when a write fails.
 */
export async function saveBody(
  answer: Answer,
  dest: string,
  onProgress: ((bytes: number, total?: number) => void) | undefined,
): Promise<void> {
  const total = announcedLength(answer);
  const partial = join(dirname(dest), `.${basename(dest)}.${randomUUID()}.part`);
  const file = await open(partial, 'wx');
  try {
    try {
      let written = 0;
      for await (const chunk of inChunks(answer.body)) {
        await writeAll(file, chunk);
        written += chunk.length;
        onProgress?.(written, total);
      }
      if (total !== undefined && written !== total) {
        throw new RemoteError(answer.status, `The download broke off after ${written} of ${total} bytes. Try again.`);
      }
    } finally {
      await file.close();
    }
    await rename(partial, dest);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Undefined where the service does not say, or where a fetch has decoded the body so that its length is another. */
function announcedLength(answer: Answer): number | undefined {
  const length = answer.header('content-length');
  return length === null || answer.header('content-encoding') !== null ? undefined : Number(length);
}

/** Gathers bytes into chunks of one size. The buffer is used again for each chunk. */
async function* inChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  for await (const bytes of body) {
    let taken = 0;
    while (taken < bytes.length) {
      const part = bytes.subarray(taken, taken + CHUNK_BYTES - filled);
      buffer.set(part, filled);
      filled += part.length;
      taken += part.length;
      if (filled === CHUNK_BYTES) {
        yield buffer;
        filled = 0;
      }
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

/** A write may take less than it was given, for one when the disk is almost full. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
}
