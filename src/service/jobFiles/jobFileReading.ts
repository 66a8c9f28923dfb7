import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';

/**
 * The flags for opening a job's file. A job that is not isolated can put anything in its place. A link is refused, and a pipe is not
 * waited for, because that would block one of the few threads that read files. Windows has neither flag.
 */
export const JOB_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The error for a file in a job's folder that neither the service nor the runner wrote. */
export function changedByJob(path: string, cause?: unknown): AppError {
  return new AppError('corrupt', `The job's file ${basename(path)} was changed by something other than the service.`, {
    cause,
  });
}

/** Opens a file of a job; undefined if it does not exist. @throws AppError `corrupt` for anything but a regular file. */
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
 * The text of a job's file, or its last `maxBytes` if it is longer; undefined if it does not exist.
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
