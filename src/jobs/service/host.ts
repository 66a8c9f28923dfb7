import { AppError } from '../../core/errors.ts';
import type { Agent } from 'node:http';
import { farwharfHome } from '../../core/files/home.ts';
import { nearest } from '../../core/text/similar.ts';
import type { KeySource } from '../../remote/http/bearer.ts';
import { refuseUnencrypted } from '../../remote/http/checkedHost.ts';
import { findMachine, isMachineName, readMachines } from '../../machines/machineRecords.ts';

/** The name of the embedded service as a host. */
export const LOCAL_HOST = 'local';

/** Hosts that are machines reached over SSH: this, and the name of the machine. */
const MACHINE_SCHEME = 'ssh://';

/** The host of a connected machine. */
export function machineHost(name: string): string {
  return `${MACHINE_SCHEME}${name}`;
}

/** The name of the machine that a host is; undefined for `local` and services with a URL. */
export function machineOfHost(host: string): string | undefined {
  return host.startsWith(MACHINE_SCHEME) ? host.slice(MACHINE_SCHEME.length) : undefined;
}

/**
 * The host to use: `remote`, else `FARWHARF_REMOTE_HOST`, else `local`. A URL is returned without a trailing `/`, and the name of a
 * connected machine as `ssh://NAME`.
 *
 * @throws AppError `bad-input` for an invalid URL, a URL with a user name, password, query or fragment, and http to another machine,
 *   which would expose the key on the network.
 */
export function resolveHost({ remote, env }: { remote?: string; env: NodeJS.ProcessEnv }): string {
  const text = (remote ?? env['FARWHARF_REMOTE_HOST'] ?? '').trim();
  if (text === '' || text === LOCAL_HOST) return LOCAL_HOST;
  const machine = machineOfHost(text) ?? text;
  if (isMachineName(machine)) return machineHost(connectedMachine(machine, farwharfHome(env)));
  const url = URL.parse(text);
  // The text is not repeated, because it may contain a password.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError(
      'bad-input',
      'The service address is not an https URL. Enter one like https://gpu.example.org, or the name of a connected machine.',
    );
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
  refuseUnencrypted(url);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** @throws AppError `bad-input` for a machine that is not connected. */
function connectedMachine(name: string, home: string): string {
  if (findMachine(home, name) !== undefined) return name;
  const guess = nearest(
    name,
    readMachines(home).map((machine) => machine.name),
  );
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  throw new AppError(
    'bad-input',
    `No machine named ${name} is connected.${hint} Connect it with  farwharf connect ${name}  or enter the https URL of a service.`,
  );
}

export interface HostAddress {
  readonly url: string;
  readonly key: string | KeySource;
  /** Makes the connections; undefined for TCP. */
  readonly agent?: Agent;
}

/**
 * The URL and key for requests: those of the embedded service (started by `connectLocal`), of a machine's service (reached by
 * `connectMachine`), or the host with its key. The user's key is never sent to the embedded service or to a machine.
 */
export async function hostAddress(
  host: string,
  {
    key,
    connectLocal,
    connectMachine,
  }: {
    key: () => string | Promise<string | KeySource>;
    connectLocal: () => Promise<HostAddress>;
    connectMachine: (name: string) => Promise<HostAddress>;
  },
): Promise<HostAddress> {
  if (host === LOCAL_HOST) return connectLocal();
  const machine = machineOfHost(host);
  return machine === undefined ? { url: host, key: await key() } : connectMachine(machine);
}
