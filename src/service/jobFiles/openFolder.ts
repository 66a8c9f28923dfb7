import { constants, existsSync } from 'node:fs';
import { chmod, open } from 'node:fs/promises';
import { AppError, systemCode } from '../../core/errors.ts';

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** A folder that stays the same until it is disposed, whatever replaces it. */
export interface OpenFolder extends AsyncDisposable {
  /** The path through which the folder's contents are accessed. */
  readonly path: string;
}

/**
 * Opens a folder that jobs can write to. Nodes of a cluster could replace it with a link to something that jobs cannot access, and
 * the service would follow it. So on Linux the folder is accessed through its descriptor; other systems only run their own jobs.
 *
 * @throws AppError `corrupt` for a link or anything else that is not a folder, or the system's error.
 */
export async function openFolder(path: string | Buffer): Promise<OpenFolder> {
  if (process.platform !== 'linux' || !existsSync('/proc/self/fd')) {
    return { path: path.toString(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const handle = await open(path, FOLDER).catch(async (error: unknown) => {
    if (['ELOOP', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw replaced(path, error);
    if (systemCode(error) !== 'EACCES') throw error;
    await chmod(path, 0o700); // a job removed its own permissions
    return open(path, FOLDER);
  });
  return { path: `/proc/self/fd/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() };
}

function replaced(path: string | Buffer, cause: unknown): AppError {
  const message = `Something other than the service replaced the folder ${path.toString()} with a link or a file, which is not followed. Restore the folder, or delete the link.`;
  return new AppError('corrupt', message, { cause });
}
