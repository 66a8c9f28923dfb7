import { type LookupAddress, lookup } from 'node:dns';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { AppError, messageOf } from '../../core/errors.ts';
import { networkFailureText } from '../../core/network/failureText.ts';
import { answerOfProxy } from '../../core/network/proxyError.ts';
import { Routes } from '../../core/network/routes.ts';
import { formatBytes } from '../../core/text/format.ts';
import { htmlText } from './htmlText.ts';

const MAX_BYTES = 10_000_000;
const MAX_REDIRECTS = 5;
const TIME_LIMIT_MS = 30_000;

// Loopback, private, link-local, shared and documentation ranges (RFC 6890 and its IPv6 counterparts).
const PRIVATE = new BlockList();

for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv6');
}

/** Whether an IP address belongs to this machine or a local network rather than to the internet. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address.replace(/^\[|\]$/g, '');
  const family = isIP(plain);
  return family !== 0 && PRIVATE.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

interface Limits {
  readonly maxBytes?: number;
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
  /** The addresses that a public page may not redirect to. */
  readonly isPrivate?: (address: string) => boolean;
}

function parseAddress(address: string): URL {
  const url = URL.parse(address);
  // Not the error of URL, which has the address with its password as a property.
  if (url === null) throw new AppError('bad-input', `The address ${address} is not valid.`);
  return url;
}

/**
 * The text of a web page, a plain text or a JSON document. At most 10 MB, 30 s and 5 redirects.
 *
 * An address that the user specified may be private. A redirect from a public address to a private one is refused, and so is a
 * public name that resolves to a private address on a later request: the connection is made to the checked address. Behind a
 * proxy, the proxy resolves names and decides which are allowed.
 *
 * @throws AppError that names the address.
 */
export async function readWebPage(address: string, limits: Limits = {}): Promise<string> {
  const { timeLimitMs = TIME_LIMIT_MS, isPrivate: isPrivateAt = isPrivateAddress } = limits;
  const timer = AbortSignal.timeout(timeLimitMs);
  const signal = limits.signal === undefined ? timer : AbortSignal.any([timer, limits.signal]);
  using routes = new Routes({ signal });
  let url = parseAddress(address);
  let isPublic = false;
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { response, isPrivate } = await request(url, { isPublicOnly: isPublic, isPrivateAt, signal, routes });
      const location = response.headers.location;
      const status = response.statusCode ?? 0;
      if (status < 300 || status >= 400 || location === undefined) {
        return await readResponse(response, address, limits.maxBytes ?? MAX_BYTES);
      }
      response.destroy();
      isPublic ||= !isPrivate;
      url = new URL(location, url);
    }
  } catch (error) {
    limits.signal?.throwIfAborted();
    if (error instanceof AppError) throw error;
    const reason = networkFailureText(error, url.host) ?? messageOf(error);
    const what = timer.aborted ? `took longer than ${timeLimitMs / 1000} s` : `could not be read: ${reason}`;
    throw new AppError('unreachable', `${address} ${what.replace(/\.$/, '')}.`, { cause: error });
  }
  throw new AppError('refused', `${address} redirects more than ${MAX_REDIRECTS} times.`);
}

function request(
  url: URL,
  rules: { isPublicOnly: boolean; isPrivateAt: (address: string) => boolean; signal: AbortSignal; routes: Routes },
): Promise<{ response: IncomingMessage; isPrivate: boolean }> {
  const { isPublicOnly, isPrivateAt, signal, routes } = rules;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AppError('refused', `${url.href} is not an http or https URL.`);
  }
  const refuse = (): AppError =>
    new AppError('refused', `A public page redirects to ${url.host}, which is on this machine or its network.`);
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  let isPrivate = isPrivateAt(literal);
  // Node does not look up literal addresses.
  if (isPublicOnly && isPrivate) throw refuse();
  const checkedLookup: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, '', 0);
      isPrivate = addresses.some((entry) => isPrivateAt(entry.address));
      if (isPublicOnly && isPrivate) return callback(refuse(), '', 0);
      const [first] = addresses;
      return options.all === true ? callback(null, addresses) : callback(null, first?.address ?? '', first?.family);
    });
  };
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    const headers = { accept: 'text/html, text/*;q=0.9, application/json;q=0.8', 'user-agent': 'farwharf' };
    const { agent, proxy } = routes.to(url);
    const outgoing = get(url, { lookup: checkedLookup, agent, signal, headers }, (response) => {
      const failure = answerOfProxy(outgoing, response.statusCode ?? 0, { url, proxy, isEditors: agent === undefined });
      if (failure === undefined) return resolve({ response, isPrivate });
      response.destroy();
      reject(failure);
    }).on('error', reject);
  });
}

async function readResponse(response: IncomingMessage, address: string, maxBytes: number): Promise<string> {
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    response.destroy();
    throw new AppError('missing', `${address} returned HTTP ${status}.`);
  }
  const type = response.headers['content-type'] ?? 'text/plain';
  if (!/^(?:text\/|application\/(?:xhtml\+xml|(?:[\w.]+\+)?json|xml))/i.test(type)) {
    response.destroy();
    throw new AppError('bad-input', `${address} is ${type}; only text, HTML and JSON can be read.`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const body: AsyncIterable<Buffer> = response;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new AppError('limit', `${address} is larger than ${formatBytes(maxBytes)}.`);
    chunks.push(chunk);
  }
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  const text = decode(Buffer.concat(chunks), charset);
  return /html/i.test(type) ? htmlText(text) : text;
}

function decode(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // an unknown charset
  }
}
