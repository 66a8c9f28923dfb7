import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';

/**
 * How files of a job are opened. A job that is not isolated can put anything in their place: a link is refused, and a pipe not
 * waited for, which would hold one of the few threads that read files. Windows knows neither flag.
 */
export const JOB_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** What is in the place of a job's file is not what the service or its runner put there. */
export function changedByJob(path: string, cause?: unknown): AppError {
  return new AppError('corrupt', `The job's file ${basename(path)} was changed by something else than the service.`, {
    cause,
  });
}

/** Opens a file of a job; undefined where there is none. @throws AppError `corrupt` for anything but a regular file. */
export async function openJobFile(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, JOB_FILE);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (['ELOOP', 'ENXIO'].includes(systemCode(error) ?? '')) throw changedByJob(path, error);
    throw error;
  }
  try {
    if (!(await file.stat()).isFile()) throw changedByJob(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * The text of a job's file, or its last `maxBytes` where it is longer; undefined where there is none.
 *
 * @throws AppError `corrupt` for anything but a regular file.
 */
export async function readJobText(path: string, maxBytes: number): Promise<string | undefined> {
  await using file = await openJobFile(path);
  if (file === undefined) return undefined;
  const { size } = await file.stat();
  const length = Math.min(size, maxBytes);
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, size - length);
  return buffer.toString('utf8', 0, bytesRead);
}
