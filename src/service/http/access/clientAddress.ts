import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback } from './auth.ts';
import type { ProxySettings } from '../../config/sections.ts';

/**
 * The address that a request comes from. `X-Forwarded-For` is read from the right, as far as proxies that are known have
 * written it: what stands further left is what a client claims.
 */
export function clientAddress(incoming: IncomingMessage, proxy: ProxySettings | undefined): string {
  const known = new Set(proxy?.addresses);
  let address = plain(incoming.socket.remoteAddress ?? '');
  const forwarded = [incoming.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  while (known.has(address)) {
    const before = plain(forwarded.pop()?.trim() ?? '');
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** Whether a program of this machine asks, and nobody through it: what a proxy passes on names whom it is for. */
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const isForwarded = 'x-forwarded-for' in headers || 'forwarded' in headers || 'x-real-ip' in headers;
  return !isForwarded && isLoopback(plain(socket.remoteAddress ?? ''));
}

/** IPv4 addresses as such, where a socket for both shows them as IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
