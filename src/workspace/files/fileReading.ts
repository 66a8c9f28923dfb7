import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';

// Refuses a link in place of the file, and does not wait for a writer if it is a pipe. Windows has neither flag.
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A file that cannot be read, or not as it was selected. */
export class UnreadableFile extends AppError {}

/** A regular file, opened without following a link, and its state when it was opened. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly stats: BigIntStats;
}

/**
 * Opens `absolute` for reading. `path` is its name in messages.
 *
 * @throws UnreadableFile `missing`, `permission` or `conflict` (removed, or no longer a regular file).
 */
export async function openRegularFile(absolute: string, path: string): Promise<OpenFile> {
  let handle: FileHandle;
  try {
    handle = await open(absolute, SAFE_READ);
  } catch (error) {
    throw readFailure(error, path);
  }
  try {
    const stats = await statsOf(handle, path);
    if (!stats.isFile()) throw changed(path);
    return { handle, size: Number(stats.size), stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Fills `buffer` from `position`. @throws as `openRegularFile`; `conflict` if the file ends before that. */
export async function readExactly({ handle }: OpenFile, buffer: Buffer, position: number, path: string): Promise<void> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle
      .read(buffer, filled, buffer.length - filled, position + filled)
      .catch((error: unknown) => {
        throw readFailure(error, path);
      });
    if (bytesRead === 0) throw changed(path);
    filled += bytesRead;
  }
}

/** @throws as `openRegularFile`; `conflict` if the file has changed since it was opened. */
export async function assertUnchanged({ handle, stats }: OpenFile, path: string): Promise<void> {
  const now = await statsOf(handle, path);
  if (now.size !== stats.size || now.mtimeNs !== stats.mtimeNs || now.ctimeNs !== stats.ctimeNs) throw changed(path);
}

/** The error for a file that was changed or replaced while it was read. */
export function changed(path: string): UnreadableFile {
  return new UnreadableFile(
    'conflict',
    `${path} changed while it was being packed, so nothing was packed. Wait until nothing writes to it, or leave it out, and try again.`,
  );
}

function statsOf(handle: FileHandle, path: string): Promise<BigIntStats> {
  return handle.stat({ bigint: true }).catch((error: unknown) => {
    throw readFailure(error, path);
  });
}

function readFailure(error: unknown, path: string): UnreadableFile {
  switch (systemCode(error) ?? '') {
    case 'ENOENT':
    case 'ENOTDIR':
      return new UnreadableFile('conflict', `${path} was removed after the files were selected. Submit again.`, {
        cause: error,
      });
    case 'EACCES':
    case 'EPERM':
      return new UnreadableFile('permission', `${path} cannot be read. Change its permissions or leave it out.`, {
        cause: error,
      });
    case 'ELOOP':
    case 'ENXIO':
      return changed(path);
    default:
      return new UnreadableFile('missing', `${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}
