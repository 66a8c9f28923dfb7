import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, systemCode } from '../errors.ts';

const POLL_MS = 100;

export interface LockOptions {
  /**
   * After this long without a heartbeat, a lock counts as left by a killed process, and is taken over. While a process works, it renews its
   * lock four times as often.
   */
  readonly staleMs: number;
  /** How long others may hold the lock; ten times `staleMs` by default. */
  readonly maxWaitMs?: number;
  /** Called repeatedly while another process holds the lock. */
  readonly onWait?: () => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does `work` while no other process does work under the lock file `path`, whose folder exists. Two processes that take over the same
 * stale lock at the same moment can both work, so what they do must stay correct then, if more slowly.
 *
 * @throws what `work` throws, the signal's reason, AppError `conflict` if others hold the lock for longer than `maxWaitMs`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions): Promise<T> {
  const { staleMs, maxWaitMs = 10 * staleMs, onWait, signal } = options;
  const deadline = performance.now() + maxWaitMs;
  while (!(await tryLock(path))) {
    if (performance.now() > deadline)
      throw new AppError('conflict', `Other processes hold the lock ${path}. Try again.`);
    if (await isStale(path, staleMs)) await takeAway(path);
    else {
      onWait?.();
      await sleep(POLL_MS, undefined, { signal });
    }
  }
  const beat = setInterval(() => void showLife(path), staleMs / 4).unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
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

async function showLife(path: string): Promise<void> {
  try {
    await utimes(path, new Date(), new Date());
  } catch {
    // Another process took the lock over, or the file system is briefly unavailable.
  }
}

async function isStale(path: string, staleMs: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > staleMs;
  } catch {
    return false; // it was released meanwhile
  }
}

/** Renamed first, so that only one of several processes removes it. */
async function takeAway(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
