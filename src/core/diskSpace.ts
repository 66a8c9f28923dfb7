import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from './errors.ts';

/** Whether a write failed because the disk is full or the user's quota of it is used up. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * The error of a write that finds no room for so many bytes in a folder; undefined where there is room, or where it fails
 * for another reason. Writes them and removes them again: free space that the system reports says nothing about quotas.
 */
export function diskFullError(folder: string, bytes: number): Error | undefined {
  const probe = join(folder, `.space-${process.pid}`);
  try {
    // Some file systems find out only when they are told to put it on the disk.
    writeFileSync(probe, Buffer.alloc(bytes, 1), { flush: true });
    return undefined;
  } catch (error) {
    return error instanceof Error && isDiskFull(error) ? error : undefined;
  } finally {
    rmSync(probe, { force: true });
  }
}
