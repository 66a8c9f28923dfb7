import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Makes the contents of a file durable, so that they survive a power loss. */
export async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  await file.sync();
}

/** Makes the entries of a folder durable. Does nothing on Windows, which has no call for it. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using folder = await open(path, 'r');
  await folder.sync();
}

/** The synchronous `syncFolder`. */
export function syncFolderSync(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
