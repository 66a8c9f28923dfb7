import { statfs } from 'node:fs/promises';
import { systemCode } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import type { HealthPart } from './parts.ts';

// A warning at this multiple of the minimum leaves time to react.
const WARN_FACTOR = 2;

/** Bytes that this user can still write to the folders' file system, the fuller one of two. @throws the system's error. */
export async function freeBytesOf(folders: readonly string[]): Promise<number> {
  const disks = await Promise.all([...new Set(folders)].map((folder) => statfs(folder)));
  return Math.min(...disks.map(({ bavail, bsize }) => bavail * bsize));
}

export async function checkDisk(folders: readonly string[], minFreeBytes: number): Promise<HealthPart> {
  try {
    const free = await freeBytesOf(folders);
    const message = `The disk of the data folder has ${formatBytes(free)} left; below ${formatBytes(minFreeBytes)} no job is taken.`;
    if (free < minFreeBytes || free === 0) return { status: 'unavailable', message };
    if (free >= WARN_FACTOR * minFreeBytes) return { status: 'ok', message };
    return { status: 'degraded', message: `${message} Free some, or shorten [retention].` };
  } catch (error) {
    return {
      status: 'unavailable',
      message: `The data folder or the files of jobs cannot be read: ${systemCode(error) ?? 'error'}. Their file system may not be mounted.`,
    };
  }
}
