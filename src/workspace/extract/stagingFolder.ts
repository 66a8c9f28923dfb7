import { randomUUID } from 'node:crypto';
import { mkdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { STAGING_PREFIX } from '../select/exclusion.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { PinnedFolders } from '../files/pinnedFolders.ts';

export function newStagingName(): string {
  return `${STAGING_PREFIX}${randomUUID()}`;
}

/** Creates a staging folder that only this user may enter. Returns the absolute path of its folder for files, and that folder. */
export function makeStagingFolder(folder: string, name: string): { staging: string; folders: PinnedFolders } {
  const parent = new PinnedFolders(folder);
  try {
    mkdirSync(parent.at(name), 0o700);
    try {
      mkdirSync(parent.at(`${name}/files`));
    } catch (error) {
      rmdirSync(parent.at(name)); // a disk may have had room for only one folder
      throw error;
    }
    return { staging: join(folder, name, 'files'), folders: new PinnedFolders(parent.at(`${name}/files`), true) };
  } finally {
    parent.dispose();
  }
}

/** Removes the staging folder and its contents. */
export async function discardStaged({ staging }: { readonly staging: string }): Promise<void> {
  const base = dirname(staging);
  // Without handles, our own removal would be no safer than Node.js's.
  if (process.platform !== 'linux') return rm(base, { recursive: true, force: true });
  let folders: PinnedFolders | undefined;
  try {
    folders = new PinnedFolders(dirname(base));
    await removeFolder(folders, basename(base), new Yielder());
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  } finally {
    folders?.dispose();
  }
}

async function removeFolder(folders: PinnedFolders, path: string, yielder: Yielder): Promise<void> {
  for (const entry of await readdir(folders.folder(path), { withFileTypes: true })) {
    if (yielder.isDue) await yielder.pause();
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) await removeFolder(folders, child, yielder);
    else unlinkSync(folders.at(child));
  }
  folders.forget(path);
  rmdirSync(folders.at(path));
}
