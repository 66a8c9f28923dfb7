import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder, syncFolderSync } from './durableFiles.ts';

/** The end of the names of files that are still being written. */
export const UNFINISHED = '.tmp';

export interface AtomicWriteOptions {
  /** Permissions of the file, before the umask; for this user only unless given. */
  readonly mode?: number;
  /** Whether the file has to survive a power loss once it is written. Costs two waits for the disk, about 10 ms. */
  readonly isDurable?: boolean;
}

/**
 * Replaces a file in one step: readers find the old one or the new one, never a part of it. It is written beside its place, so
 * that the move stays within one file system.
 *
 * @throws the system's error; the old file is still there then, and nothing else is left.
 */
export async function writeAtomically(
  path: string,
  data: Uint8Array | string,
  { mode = 0o600, isDurable = false }: AtomicWriteOptions = {},
): Promise<void> {
  const unfinished = unfinishedPath(path);
  try {
    await writeFile(unfinished, data, { flag: 'wx', mode, flush: isDurable });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  if (isDurable) await syncFolder(dirname(path));
}

/** `writeAtomically` for callers that cannot wait. */
export function writeAtomicallySync(
  path: string,
  data: Uint8Array | string,
  { mode = 0o600, isDurable = false }: AtomicWriteOptions = {},
): void {
  placeAtomically(path, data, (unfinished) => renameSync(unfinished, path), { mode, isDurable });
}

/**
 * Writes a file beside its place and hands it to `place`, which moves or links it there. What is left of it is removed.
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

/** A name that nobody else uses: on a cluster, processes of several machines can write into one folder. */
function unfinishedPath(path: string): string {
  return `${path}.${randomUUID()}${UNFINISHED}`;
}
