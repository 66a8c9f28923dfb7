import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { resolveHost } from './host.ts';
import { readPrivateFile } from './privateFile.ts';

/**
 * The key for a remote host: `FARWHARF_API_KEY` if `FARWHARF_REMOTE_HOST` is that host, else the host's own file in the folder `keys` of
 * FARWHARF_HOME. A key without a host is never sent, because an address on the command line may be anybody's.
 *
 * @throws AppError `not-signed-in` if neither exists, `permission` for a key file that others can read or change.
 */
export function resolveKey(host: string, { env, home }: { env: NodeJS.ProcessEnv; home: string }): string {
  const own = environmentKey(host, env);
  if (own !== undefined) return own;
  const file = join(home, 'keys', hostFileName(host));
  const stored = readPrivateFile(file)?.trim();
  if (stored !== undefined && stored !== '') return stored;
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
export function environmentKey(host: string, env: NodeJS.ProcessEnv): string | undefined {
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
