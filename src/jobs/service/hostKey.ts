import { join } from 'node:path';
import { lstatSync } from 'node:fs';
import { userInfo } from 'node:os';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { resolveHost } from './host.ts';
import { readNamedBytesSync } from '../../core/files/namedFile.ts';

/**
 * The key for a remote host: `FARWHARF_API_KEY` if `FARWHARF_REMOTE_HOST` is that host, else the host's own file in the folder `keys` of
 * FARWHARF_HOME. A key without a host is never sent, because an address on the command line may be anybody's.
 *
 * @throws AppError `not-signed-in` if neither exists, `permission` for a key file that others can read or change.
 */
export function resolveKey(host: string, { env, home }: { env: NodeJS.ProcessEnv; home: string }): string {
  const environmentKey = keyInEnvironment(host, env);
  if (environmentKey !== undefined) return environmentKey;
  const file = join(home, 'keys', hostFileName(host));
  const fileKey = readPrivateFile(file)?.trim();
  if (fileKey !== undefined && fileKey !== '') return fileKey;
  if ((env['FARWHARF_API_KEY'] ?? '').trim() === '') {
    const message = `No key is set for ${host}. Set FARWHARF_API_KEY to the key of your account, and FARWHARF_REMOTE_HOST=${host}; or sign in, if the service offers it:  farwharf login --remote ${host}`;
    throw new AppError('not-signed-in', message);
  }
  throw new AppError(
    'not-signed-in',
    `FARWHARF_API_KEY may belong to another service than ${host}, so nothing was sent. ` +
      `Set FARWHARF_REMOTE_HOST=${host} if the key is for that service, or put the right key into ${file}.`,
  );
}

/** The key in the environment, if it is for this host. */
export function keyInEnvironment(host: string, env: NodeJS.ProcessEnv): string | undefined {
  const key = (env['FARWHARF_API_KEY'] ?? '').trim();
  return key !== '' && host === hostOfKey(env) ? key : undefined;
}

/** The host of the key in the environment; undefined if it is not a usable URL. */
function hostOfKey(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return resolveHost({ env });
  } catch {
    return undefined; // reported when that host is used
  }
}

/** The name of the files of a host, which is valid on every system. */
export function hostFileName(host: string): string {
  return new URL(host).host.replaceAll(/[^\w.-]/g, '_');
}

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
