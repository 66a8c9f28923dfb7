import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listFolder } from '../files/folderEntries.ts';
import { Yielder } from '../../core/processes/yielder.ts';

// Git lists most folders faster, and then nothing is searched.
const START_AFTER_MS = 1_000;
// The limit in newer versions of git (dir.c, PATTERN_MAX_FILE_SIZE).
const MOST_RULES_BYTES = 100 << 20;

/**
 * Aborts `blocked` if git, while listing the files of `root`, waits forever for an ignore file that is a pipe or larger than memory. Only
 * searches for such files if git is slow. Returns when `done` aborts or everything was checked.
 */
export async function abortIfBlocked(
  root: string,
  top: string,
  { blocked, done }: { readonly blocked: AbortController; readonly done: AbortSignal },
): Promise<void> {
  try {
    await sleep(START_AFTER_MS, undefined, { signal: done, ref: false });
    if ((await isBlockedAbove(root, top)) || (await isBlockedBelow(root, done))) blocked.abort();
  } catch {
    // Git has finished in the meantime.
  }
}

async function isBlockedAbove(root: string, top: string): Promise<boolean> {
  for (let folder = root; folder !== top; folder = dirname(folder)) {
    if (await isBlocking(join(dirname(folder), '.gitignore'))) return true;
  }
  return false;
}

async function isBlockedBelow(root: string, done: AbortSignal): Promise<boolean> {
  const yielder = new Yielder(done);
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    done.throwIfAborted();
    for (const { name, isFolder } of await listFolder(folder, yielder).catch(() => [])) {
      const path = join(folder, name);
      // In an inner repository, git reads `HEAD`.
      if (name === '.git' ? folder !== root && (await isBlocking(join(path, 'HEAD'))) : false) return true;
      if (name === '.gitignore' && (await isBlocking(path))) return true;
      if (isFolder && name !== '.git') folders.push(path);
    }
  }
  return false;
}

async function isBlocking(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory() || stats.isSymbolicLink()) return false;
  return !stats.isFile() || stats.size > MOST_RULES_BYTES;
}
