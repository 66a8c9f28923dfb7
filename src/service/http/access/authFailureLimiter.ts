import { isIPv6 } from 'node:net';
import { TokenBuckets } from './tokenBuckets.ts';

const MAX_KNOWN = 10_000;

/**
 * Slows down guessing of keys: an address that sent too many wrong keys is blocked for a while.
 *
 * A whole laboratory may share one address, and a forgotten script with an old key must not lock everybody out. So keys that
 * were valid from that address keep working; all others are refused without being looked up.
 */
export class AuthFailureLimiter {
  readonly #buckets: TokenBuckets;
  readonly #perMinute: number;
  /** Addresses with the digests of keys that were valid from there, least recently used first. */
  readonly #known = new Set<string>();

  constructor(perMinute: number, buckets: TokenBuckets = new TokenBuckets()) {
    this.#perMinute = perMinute;
    this.#buckets = buckets;
  }

  /** Whole seconds until a key from this address is checked; 0 if it is checked now. */
  secondsToWait(address: string, digest: Buffer): number {
    const network = networkOf(address);
    if (this.#known.has(nameOf(network, digest))) return 0;
    return this.#buckets.secondsUntilNext(network, this.#perMinute);
  }

  noteWrong(address: string, digest: Buffer): void {
    const network = networkOf(address);
    this.#known.delete(nameOf(network, digest));
    this.#buckets.take(network, this.#perMinute);
  }

  noteGood(address: string, digest: Buffer): void {
    const name = nameOf(networkOf(address), digest);
    this.#known.delete(name);
    this.#known.add(name);
    const [oldest] = this.#known;
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

function nameOf(network: string, digest: Buffer): string {
  return `${network} ${digest.toString('base64')}`;
}

/** An owner of an IPv6 address has at least 2^64 of them (RFC 6177), so the network counts. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':');
  const missing = address.includes('::') ? 8 - groups.length - tail.split(':').length : 0;
  const whole = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')];
  return whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':');
}
