import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { RemoteError } from '../http/remoteErrors.ts';
import type { HttpResponse } from '../http/exchange.ts';
import type { TransferOptions } from '../http/requestLimits.ts';

/** The size of a write (specification, section 8). */
const CHUNK_BYTES = 65_536;

export interface DownloadOptions extends TransferOptions {
  /** A larger body is refused: by its announced length before anything is written, otherwise when the limit is reached. */
  readonly maxBytes?: number;
  /** Called with the first bytes of the body, at least 10 if it has as many. An error thrown here ends the download. */
  onStart?(head: Uint8Array): void;
}

/**
 * Writes the body to a temporary file beside `dest` and renames it, so that `dest` is complete or unchanged. The file name that the
 * service sends is not used.
 *
 * @throws RemoteError if the number of bytes differs from the announced one or exceeds the limit, the error of `onStart`, AppError
 * `no-space` if the announced bytes do not fit on the disk, and the system's error if a write fails.
 */
export async function saveBody(response: HttpResponse, dest: string, options: DownloadOptions = {}): Promise<void> {
  const { maxBytes = Infinity } = options;
  const total = announcedLength(response);
  if (total !== undefined && total > maxBytes) throw tooLarge(response, maxBytes);
  // Named independently of `dest`, whose name may already have the maximum length.
  const partial = join(dirname(dest), `.farwharf-${randomUUID()}.part`);
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
  const what = bytes < total ? 'The download ended early, after' : 'The service sent';
  return new RemoteError(status, `${what} ${bytes} of ${total} bytes. Try again.`);
}

function tooLarge({ status }: HttpResponse, maxBytes: number): RemoteError {
  return new RemoteError(
    status,
    `The results are larger than the limit of ${formatBytes(maxBytes)}, so nothing was saved. Have the job write less, or copy its results in another way.`,
  );
}

/** @throws AppError `no-space` if the disk has fewer free bytes. */
async function assertSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bytes <= bavail * bsize) return;
  throw new AppError(
    'no-space',
    `The download needs ${formatBytes(bytes)}, but this disk has only ${formatBytes(bavail * bsize)} free. Free some space and try again.`,
  );
}

/** Undefined if the service does not announce it, or if a fetch has decoded the body, which changes its length. */
function announcedLength(response: HttpResponse): number | undefined {
  const length = response.header('content-length');
  return length === null || response.header('content-encoding') !== null ? undefined : Number(length);
}

/** Collects bytes into chunks of one size. The buffer is reused for each chunk. */
async function* inChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  for await (const bytes of body) {
    let offset = 0;
    while (offset < bytes.length) {
      const part = bytes.subarray(offset, offset + CHUNK_BYTES - filled);
      buffer.set(part, filled);
      filled += part.length;
      offset += part.length;
      if (filled === CHUNK_BYTES) {
        yield buffer;
        filled = 0;
      }
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

/** Repeats the write, because one may be incomplete, for example on a disk that is almost full. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
}
