import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/** The end of the names of files that are still being written. */
export const UNFINISHED = '.tmp';

/**
 * Writes a file for this user only, whatever the umask says, beside its place and moves it there, so that readers see the old one or the new one whole. It does not wait for
 * the disk: what a power cut damages is found by its checksum and built anew, and waiting would cost each saved file 10 ms.
 *
 * @throws the system's error; nothing is left then.
 */
export async function writeAtomically(path: string, bytes: Uint8Array | string): Promise<void> {
  const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
  try {
    await writeFile(unfinished, bytes, { mode: 0o600 });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Does so at once. */
export function writeAtomicallySync(path: string, bytes: Uint8Array | string): void {
  const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
  try {
    writeFileSync(unfinished, bytes, { mode: 0o600 });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
