import { chmodSync, type Dirent, lstatSync, readdirSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobFolder } from '../jobFiles/jobFolder.ts';

const FOLDER = 0o777;
const READABLE = 0o444;

/** Whether the runner has another user than the service: the person whose job it is. */
export function isPersons({ path }: JobFolder): boolean {
  return process.getuid !== undefined && lstatSync(path).uid !== process.getuid();
}

/**
 * Makes the submitted files the person's own. The service's could be changed and deleted, but programs such as git refuse files of
 * others, and only an owner can change permissions and times.
 */
export async function takeOver({ workspace }: JobFolder): Promise<void> {
  const submitted = `${workspace}.submitted`;
  await rename(workspace, submitted);
  await cp(submitted, workspace, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  await rm(submitted, { recursive: true });
}

/**
 * Lets the service read and delete all files of the job, whatever permissions its programs gave them. Nobody else can pass the job's
 * folder. Files with several names are left alone, because another name may lie elsewhere.
 */
export function handBack({ path }: JobFolder): void {
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const child = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(child);
      if (entry.isDirectory() || entry.isFile()) widen(child, entry.isDirectory() ? FOLDER : READABLE);
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // the job is free to make such folders, and the service reports what it cannot read
  }
}

function widen(path: string, bits: number): void {
  try {
    const { mode, nlink } = lstatSync(path);
    if (bits === FOLDER || nlink === 1) chmodSync(path, (mode & FOLDER) | bits);
  } catch {
    // It is the service's own, or a process that the job left running has removed it.
  }
}
