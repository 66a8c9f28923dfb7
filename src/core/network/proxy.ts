import { BlockList, isIP, isIPv4 } from 'node:net';
import { AppError } from '../errors.ts';
import { isOwnMachine } from './loopback.ts';

/** A proxy that the environment names. */
export interface Proxy {
  readonly host: string;
  readonly port: number;
  /** Whether the connection to the proxy uses TLS. */
  readonly isSecure: boolean;
  /** Value of `Proxy-Authorization`; must not appear in messages. */
  readonly authorization: string | undefined;
  /** `proxy.example.org:3128`, for messages. */
  readonly address: string;
  /** The variable that names it: `HTTPS_PROXY`. */
  readonly setting: string;
}

/**
 * The proxy for a URL from `HTTPS_PROXY` or `HTTP_PROXY`, unless `NO_PROXY` contains the host; lower case takes precedence, as in curl.
 * Undefined if there is none, and always for this machine.
 *
 * @throws AppError `bad-input` for a value that is not the address of an http or https proxy.
 */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv = process.env): Proxy | undefined {
  if (isOwnMachine(url.hostname) || !/^https?:$/.test(url.protocol)) return undefined;
  const lower = `${url.protocol.slice(0, -1)}_proxy`;
  const setting = env[lower] ? lower : lower.toUpperCase();
  const value = env[setting]?.trim() ?? '';
  if (value === '' || isInNoProxy(env['no_proxy'] || env['NO_PROXY'] || '', url)) return undefined;
  return parseProxy(value, setting);
}

function parseProxy(value: string, setting: string): Proxy {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  // The value is not repeated, because it may contain a password.
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    const message = `${setting} is not the address of an http or https proxy, so nothing was sent. Use the form http://proxy.example.org:3128.`;
    throw new AppError('bad-input', message);
  }
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port || (isSecure ? 443 : 80));
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const authorization = url.username === '' ? undefined : basic(url, setting);
  return { host, port, isSecure, authorization, address: `${url.hostname}:${port}`, setting };
}

function basic({ username, password }: URL, setting: string): string {
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    const message = `The user name or password in ${setting} has a % that is not followed by two hexadecimal digits. Write % as %25.`;
    throw new AppError('bad-input', message);
  }
}

/**
 * Whether a `NO_PROXY` list contains the host of a URL, by curl's rules: entries are separated by commas or spaces; `example.org` includes
 * its subdomains, with or without a leading dot or `*.`; an entry may have a port; addresses may be ranges (`10.0.0.0/8`); `*` matches
 * every host.
 */
function isInNoProxy(list: string, { hostname, port, protocol }: URL): boolean {
  const host = bare(hostname);
  const portOfUrl = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const { name, entryPort } = splitPort(entry);
      if (name === '' || (entryPort !== undefined && entryPort !== portOfUrl)) return false;
      return isIP(host) === 0 ? host === name || host.endsWith(`.${name}`) : isInRange(host, name);
    });
}

function splitPort(entry: string): { name: string; entryPort: string | undefined } {
  const [, host = entry, entryPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  return { name: bare(host).replace(/^\*?\./, ''), entryPort };
}

function isInRange(address: string, range: string): boolean {
  const [start = '', bits] = range.split('/');
  if (isIP(start) !== isIP(address)) return false;
  const family = isIPv4(start) ? 'ipv4' : 'ipv6';
  const length = bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === 'ipv4' ? 32 : 128)) return false;
  const block = new BlockList();
  block.addSubnet(start, length, family);
  return block.check(address, family);
}

/** Without the brackets of an IPv6 address and the dot that may end a name. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
