import { lstatSync } from 'node:fs';
import { userInfo } from 'node:os';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { readNamedBytesSync } from '../../core/files/namedFile.ts';

/**
 * The text of a file with a key, which must be this user's alone; undefined if it does not exist.
 *
 * @throws AppError `permission` if others can read or change it, or it cannot be read.
 */
export function readPrivateFile(path: string): string | undefined {
  try {
    const { mode, uid } = lstatSync(path);
    const isPrivate = process.platform === 'win32' || ((mode & 0o177) === 0 && uid === userInfo().uid);
    if (!isPrivate) {
      const message = `The key file ${path} can be read or changed by others, so it is not used. Run: chown ${userInfo().username} ${path} && chmod 600 ${path}`;
      throw new AppError('permission', message);
    }
    return readNamedBytesSync(path, { name: `The key file ${path}` }).toString('utf8');
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw new AppError('permission', `The key file ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
