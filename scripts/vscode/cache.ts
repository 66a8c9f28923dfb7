import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../src/core/errors.ts';

/** The folder for files that all checkouts on this machine share (XDG base directory specification). */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'farwharf');
}

/**
 * Runs `work` while no other process runs it under the same lock file; waits as long as the owner of the file lives.
 *
 * @param onWait called once, with the owner's process id, when there is something to wait for.
 */
export async function withLock<T>(path: string, onWait: (pid: number) => void, work: () => Promise<T>): Promise<T> {
  let isWaiting = false;
  while (!(await acquire(path))) {
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    if (owner > 0 && !isAlive(owner)) await rm(path, { force: true });
    else {
      if (!isWaiting) onWait(owner);
      isWaiting = true;
      await sleep(500);
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Linking a finished file, unlike creating one, never shows others a lock without its owner. */
async function acquire(path: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  const own = `${path}.${randomUUID()}`;
  await writeFile(own, String(process.pid));
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
