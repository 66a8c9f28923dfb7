import { createHmac } from 'node:crypto';

/** Shows that a service knows the key without telling it (RFC 2104), so that a client can ask before it sends its own. */
export function proveKey(key: string, nonce: string): string {
  return createHmac('sha256', key).update(nonce).digest('hex');
}
