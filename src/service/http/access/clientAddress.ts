import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackAddress } from './auth.ts';
import type { ProxySettings } from '../../config/configSections.ts';

/**
 * The address that a request comes from. `X-Forwarded-For` is read from the right, as far as known proxies wrote it; everything
 * to the left is a claim of the client.
 */
export function clientAddress(incoming: IncomingMessage, proxy: ProxySettings | undefined): string {
  const proxies = new Set(proxy?.addresses);
  let address = plain(incoming.socket.remoteAddress ?? '');
  const forwarded = [incoming.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  while (proxies.has(address)) {
    const before = plain(forwarded.pop()?.trim() ?? '');
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** Whether a program on this machine sent the request itself: a proxy adds a header that names its client. */
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const isForwarded = 'x-forwarded-for' in headers || 'forwarded' in headers || 'x-real-ip' in headers;
  const { remoteAddress, destroyed } = socket;
  const isLocalSocket = remoteAddress === undefined && !destroyed; // a Unix socket has no address
  return !isForwarded && (isLocalSocket || isLoopbackAddress(plain(remoteAddress ?? '')));
}

/** Removes the IPv6 prefix of an IPv4 address, which sockets for both add. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
