import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, systemCode } from '../errors.ts';

const POLL_MS = 100;

export interface LockOptions {
  /** Longer than `work` ever takes: a lock that is older was left by a process that was killed, and is taken over. */
  readonly staleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does `work` while no other process does work under the lock file `path`, whose folder exists. Two processes that take over the same
 * stale lock at the same moment can both work, so what they do must stay correct then, if more slowly.
 *
 * @throws what `work` throws, the signal's reason, AppError `conflict` if others hold the lock for more than ten times `staleMs`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions): Promise<T> {
  const { staleMs, signal } = options;
  const deadline = performance.now() + 10 * staleMs;
  while (!(await tryLock(path))) {
    if (performance.now() > deadline)
      throw new AppError('conflict', `Other processes hold the lock ${path}. Try again.`);
    if (await isStale(path, staleMs)) await takeAway(path);
    else await sleep(POLL_MS, undefined, { signal });
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(path: string, staleMs: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > staleMs;
  } catch {
    return false; // it was released meanwhile
  }
}

/** Moved first, so that of several processes one removes it. */
async function takeAway(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
