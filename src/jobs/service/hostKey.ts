import { lstatSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { resolveHost } from './host.ts';

/**
 * The key for a remote host: `FARWHARF_API_KEY` if `FARWHARF_REMOTE_HOST` is that host, else the host's own file in the folder `keys` of
 * FARWHARF_HOME. A key without a host is never sent, because an address on the command line may be anybody's.
 *
 * @throws AppError `not-signed-in` if neither exists, `permission` for a key file that others can read or change.
 */
export function resolveKey(host: string, { env, home }: { env: NodeJS.ProcessEnv; home: string }): string {
  const key = (env['FARWHARF_API_KEY'] ?? '').trim();
  if (key !== '' && host === hostOfKey(env)) return key;
  const file = keyFile(host, home);
  const stored = readKeyFile(file);
  if (stored !== undefined) return stored;
  if (key === '') {
    const message = `No key is set for ${host}. Set FARWHARF_API_KEY to the key of your account, and FARWHARF_REMOTE_HOST=${host}.`;
    throw new AppError('not-signed-in', message);
  }
  throw new AppError(
    'not-signed-in',
    `FARWHARF_API_KEY may belong to another service than ${host}, so nothing was sent. ` +
      `Set FARWHARF_REMOTE_HOST=${host} if the key is for that service, or put the right key into ${file}.`,
  );
}

/** The host of the key in the environment; undefined if it is not a usable URL. */
function hostOfKey(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return resolveHost({ env });
  } catch {
    return undefined; // reported when that host is used
  }
}

/** The file with the key of a host; its name is valid on every system. */
function keyFile(host: string, home: string): string {
  return join(home, 'keys', new URL(host).host.replaceAll(/[^\w.-]/g, '_'));
}

function readKeyFile(path: string): string | undefined {
  try {
    const { mode, uid } = lstatSync(path);
    const isPrivate = process.platform === 'win32' || ((mode & 0o177) === 0 && uid === userInfo().uid);
    if (!isPrivate) {
      const message = `The key file ${path} can be read or changed by others, so it is not used. Run: chown ${userInfo().username} ${path} && chmod 600 ${path}`;
      throw new AppError('permission', message);
    }
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw new AppError('permission', `The key file ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
