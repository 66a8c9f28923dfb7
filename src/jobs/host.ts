/** The embedded service. */
export const LOCAL_HOST = 'local';

/**
 * The service to talk to: `remote`, else `FARWHARF_REMOTE_HOST`, else `local`. A URL comes back without trailing `/`.
 *
 * @throws AppError `bad-input` for what is no URL, a URL with user name, password, query or fragment; `refused` for http to
 *   another machine.
 */
export function resolveHost(_options: { remote?: string; env: NodeJS.ProcessEnv }): string {
  throw new Error('not built yet');
}

/** The key for a remote host from `FARWHARF_API_KEY`. @throws AppError `not-signed-in` when it is not set. */
export function resolveKey(_host: string, _env: NodeJS.ProcessEnv): string {
  throw new Error('not built yet');
}

export interface HostAddress {
  readonly url: string;
  readonly key: string;
}

/** Where requests go: the embedded service (started by `connectLocal`) or the host with its key. The user's key never goes to the embedded service. */
export async function hostAddress(
  _host: string,
  _options: { key(): string | Promise<string>; connectLocal(): Promise<HostAddress> },
): Promise<HostAddress> {
  throw new Error('not built yet');
}
