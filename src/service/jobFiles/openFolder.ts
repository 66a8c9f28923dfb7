import { constants, existsSync } from 'node:fs';
import { chmod, open } from 'node:fs/promises';
import { AppError, systemCode } from '../../core/errors.ts';

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** A folder that stays the same one until it is disposed, whatever is put in its place. */
export interface OpenFolder extends AsyncDisposable {
  /** What lies in the folder is reached by this path. */
  readonly path: string;
}

/**
 * Opens a folder that jobs can write to. Nodes of a cluster could put a link in its place that leads to where jobs do not reach: the
 * service would follow it. On Linux the folder is used by its handle; other systems run no jobs but those of this machine.
 *
 * @throws AppError `corrupt` for a link or anything else that is no folder, or the system's error.
 */
export async function openFolder(path: string | Buffer): Promise<OpenFolder> {
  if (process.platform !== 'linux' || !existsSync('/proc/self/fd')) {
    return { path: path.toString(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const handle = await open(path, FOLDER).catch(async (error: unknown) => {
    if (['ELOOP', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw replaced(path, error);
    if (systemCode(error) !== 'EACCES') throw error;
    await chmod(path, 0o700); // a job took its own rights away
    return open(path, FOLDER);
  });
  return { path: `/proc/self/fd/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() };
}

function replaced(path: string | Buffer, cause: unknown): AppError {
  const message = `Something other than the service put a link or a file in the place of the folder ${path.toString()}. It is not followed. Put the folder back, or remove the link.`;
  return new AppError('corrupt', message, { cause });
}
