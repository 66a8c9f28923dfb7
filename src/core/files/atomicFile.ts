import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder, syncFolderSync } from './durableFiles.ts';

/** The suffix of files that are still being written. */
export const UNFINISHED = '.tmp';

export interface AtomicWriteOptions {
  /** Permissions of the file, before the umask; only for this user by default. */
  readonly mode?: number;
  /** Whether the file must survive a power loss once it is written. Costs two disk syncs, about 10 ms. */
  readonly isDurable?: boolean;
}

/**
 * Replaces a file atomically: readers find the old or the new version, never a part. It is first written to the same folder, so that the
 * rename stays within one file system.
 *
 * @param data the contents, or their parts in order.
 * @throws the system's error; then the old file is unchanged and nothing else is left.
 */
export async function writeAtomically(
  path: string,
  data: Uint8Array | string | readonly Uint8Array[] | AsyncIterable<string>,
  { mode = 0o600, isDurable = false }: AtomicWriteOptions = {},
): Promise<void> {
  const unfinished = unfinishedPath(path);
  try {
    if (isParts(data)) await writeParts(unfinished, data, { mode, isDurable });
    else await writeFile(unfinished, data, { flag: 'wx', mode, flush: isDurable });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  if (isDurable) await syncFolder(dirname(path));
}

function isParts(data: object | string): data is readonly Uint8Array[] {
  return Array.isArray(data);
}

/** All parts in one system call, without copying them. */
async function writeParts(
  path: string,
  parts: readonly Uint8Array[],
  { mode, isDurable }: Required<AtomicWriteOptions>,
): Promise<void> {
  await using file = await open(path, 'wx', mode);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const { bytesWritten } = await file.writev(parts);
  // A system writes less if the disk has become full. The next attempt says so.
  if (bytesWritten < length) await file.writeFile(Buffer.concat(parts).subarray(bytesWritten));
  if (isDurable) await file.sync();
}

/** The synchronous `writeAtomically`. */
export function writeAtomicallySync(
  path: string,
  data: Uint8Array | string,
  { mode = 0o600, isDurable = false }: AtomicWriteOptions = {},
): void {
  placeAtomically(path, data, (unfinished) => renameSync(unfinished, path), { mode, isDurable });
}

/**
 * Writes a temporary file in the folder of `path` and passes it to `place`, which moves or links it there. Afterwards it is removed.
 *
 * @throws what `place` throws, or the system's error.
 */
export function placeAtomically(
  path: string,
  data: Uint8Array | string,
  place: (unfinished: string) => void,
  { mode = 0o600, isDurable = false }: AtomicWriteOptions = {},
): void {
  const unfinished = unfinishedPath(path);
  try {
    writeFileSync(unfinished, data, { flag: 'wx', mode, flush: isDurable });
    place(unfinished);
  } finally {
    rmSync(unfinished, { force: true });
  }
  if (isDurable) syncFolderSync(dirname(path));
}

/** A unique name: on a cluster, processes on several machines can write into one folder. */
function unfinishedPath(path: string): string {
  return `${path}.${randomUUID()}${UNFINISHED}`;
}
