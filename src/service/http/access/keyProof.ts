import { createHmac } from 'node:crypto';

/** Proves that a service knows the key without revealing it (RFC 2104). A client asks for it before it sends the key. */
export function proveKey(key: string, nonce: string): string {
  return createHmac('sha256', key).update(nonce).digest('hex');
}
