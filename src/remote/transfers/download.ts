import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { RemoteError } from '../http/errors.ts';
import type { HttpResponse } from '../http/exchange.ts';

/** The download chunk of the specification's section 8. */
const CHUNK_BYTES = 65_536;

export interface SaveOptions {
  readonly maxBytes?: number;
  onStart?(head: Uint8Array): void;
  onProgress?(bytes: number, total?: number): void;
}

/**
 * Writes the body to `dest`: under another name beside it first, so that `dest` is whole or untouched. What the service calls the file
 * is never looked at.
 *
 * @throws RemoteError when fewer or more bytes come than were announced or allowed, what `onStart` throws, AppError `no-space` when the
 * announced bytes do not fit on the disk, and the system's error when a write fails.
 */
export async function saveBody(response: HttpResponse, dest: string, options: SaveOptions = {}): Promise<void> {
  const { maxBytes = Infinity } = options;
  const total = announcedLength(response);
  if (total !== undefined && total > maxBytes) throw tooLarge(response, maxBytes);
  const partial = join(dirname(dest), `.${basename(dest)}.${randomUUID()}.part`);
  const file = await open(partial, 'wx');
  try {
    try {
      if (total !== undefined) await assertSpace(dirname(dest), total);
      let written = 0;
      for await (const chunk of inChunks(response.body)) {
        if (written === 0) options.onStart?.(chunk);
        if (total !== undefined && written + chunk.length > total)
          throw brokenOff(response, written + chunk.length, total);
        if (written + chunk.length > maxBytes) throw tooLarge(response, maxBytes);
        await writeAll(file, chunk);
        written += chunk.length;
        options.onProgress?.(written, total);
      }
      if (total !== undefined && written !== total) throw brokenOff(response, written, total);
    } finally {
      await file.close();
    }
    await rename(partial, dest);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

function brokenOff({ status }: HttpResponse, bytes: number, total: number): RemoteError {
  const what = bytes < total ? 'The download broke off after' : 'The service sent';
  return new RemoteError(status, `${what} ${bytes} of ${total} bytes. Try again.`);
}

function tooLarge({ status }: HttpResponse, maxBytes: number): RemoteError {
  return new RemoteError(
    status,
    `The service sends more than ${formatBytes(maxBytes)}, the most that is downloaded, so nothing was kept. Have the job write less, or fetch its results in another way.`,
  );
}

/** Where the system can say. @throws AppError `no-space`. */
async function assertSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bytes <= bavail * bsize) return;
  throw new AppError(
    'no-space',
    `The download has ${formatBytes(bytes)} and ${formatBytes(bavail * bsize)} are free on this disk. Free some space and try again.`,
  );
}

/** Undefined where the service does not say, or where a fetch has decoded the body so that its length is another. */
function announcedLength(response: HttpResponse): number | undefined {
  const length = response.header('content-length');
  return length === null || response.header('content-encoding') !== null ? undefined : Number(length);
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
