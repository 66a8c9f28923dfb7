import { lstat, opendir } from 'node:fs/promises';
import type { Yielder } from '../../core/processes/yielder.ts';

// Folders may contain 100,000 files, so entries are read in batches.
const ENTRIES_AT_ONCE = 256;

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
  /** Neither a file nor a folder nor a link. */
  readonly isSpecial: boolean;
}

/** The entries of a folder, unordered. @throws the system's error if it cannot be listed. */
export async function listFolder(absolute: string, yielder: Yielder): Promise<FolderEntry[]> {
  const entries: FolderEntry[] = [];
  for await (const entry of await opendir(absolute, { bufferSize: ENTRIES_AT_ONCE })) {
    const isFolder = entry.isDirectory();
    entries.push({ name: entry.name, isFolder, isSpecial: !isFolder && !entry.isFile() && !entry.isSymbolicLink() });
    if (yielder.isDue) await yielder.pause();
  }
  return entries;
}

/** Whether there is anything at a path, such as a link that leads nowhere. */
export async function entryExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
