import { AppError } from '../../core/errors.ts';
import { isLoopback } from '../../core/network/loopback.ts';

/** The name of the embedded service as a host. */
export const LOCAL_HOST = 'local';

/**
 * The host to use: `remote`, else `FARWHARF_REMOTE_HOST`, else `local`. A URL is returned without a trailing `/`.
 *
 * @throws AppError `bad-input` for an invalid URL, a URL with a user name, password, query or fragment, and http to another machine,
 *   which would expose the key on the network.
 */
export function resolveHost({ remote, env }: { remote?: string; env: NodeJS.ProcessEnv }): string {
  const text = (remote ?? env['FARWHARF_REMOTE_HOST'] ?? '').trim();
  if (text === '' || text === LOCAL_HOST) return LOCAL_HOST;
  const url = URL.parse(text);
  // The text is not repeated, because it may contain a password.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError('bad-input', 'The service address is not an https URL. Enter one like https://gpu.example.org.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError(
      'bad-input',
      `The service address must not contain a user name or password. Use https://${url.host} and put the key in FARWHARF_API_KEY.`,
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw new AppError('bad-input', `The service address must end with its path: ${url.origin}${url.pathname}`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new AppError(
      'bad-input',
      `http://${url.host} would send your key and files unencrypted, so nothing was sent. Use https://${url.host}.`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

export interface HostAddress {
  readonly url: string;
  readonly key: string;
}

/** The URL and key for requests: those of the embedded service (started by `connectLocal`), or the host with its key. The user's key is never sent to the embedded service. */
export async function hostAddress(
  host: string,
  { key, connectLocal }: { key: () => string | Promise<string>; connectLocal: () => Promise<HostAddress> },
): Promise<HostAddress> {
  return host === LOCAL_HOST ? connectLocal() : { url: host, key: await key() };
}
