import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, systemCode } from '../errors.ts';

// SQLite's result code, which replaces the system's: https://sqlite.org/rescode.html
const SQLITE_FULL = 13;

/** Whether a write failed because the disk is full or the user's quota is exceeded, including SQLite's errors. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
}

/** Returns the error unchanged, or, for a full disk or an exceeded quota, an AppError `no-space` that names a path on that disk: the error's own, else `place`. */
export function diskError(error: unknown, place: string): unknown {
  if (!isDiskFull(error)) return error;
  const full = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : place;
  return new AppError('no-space', `The disk that holds ${full} is full. Free some space and try again.`, {
    cause: error,
  });
}

/**
 * Checks that a folder has space for `bytes` by writing and removing them, because the free space that the system reports ignores quotas.
 * Returns the error if the disk is full; undefined if there is space or the write fails for another reason.
 */
export function diskFullError(folder: string, bytes: number): Error | undefined {
  const probe = join(folder, `.space-${process.pid}`);
  try {
    // Some file systems only detect it when the data is flushed.
    writeFileSync(probe, Buffer.alloc(bytes, 1), { flush: true });
    return undefined;
  } catch (error) {
    return error instanceof Error && isDiskFull(error) ? error : undefined;
  } finally {
    rmSync(probe, { force: true });
  }
}
