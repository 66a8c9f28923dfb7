import { isIPv6 } from 'node:net';
import { TokenBuckets } from './tokenBuckets.ts';

const MAX_KNOWN = 10_000;

/**
 * Makes guessing keys cost: an address from which too many wrong keys came is not listened to for a while.
 *
 * A laboratory comes from one address, and one forgotten script with an old key must not shut everybody out. So keys that
 * have been good from that address go on; for all others no key is even looked up.
 */
export class AuthFailureLimiter {
  readonly #buckets: TokenBuckets;
  readonly #perMinute: number;
  /** Addresses with the digests of keys that were good from there, the longest unused first. */
  readonly #known = new Set<string>();

  constructor(perMinute: number, buckets: TokenBuckets = new TokenBuckets()) {
    this.#perMinute = perMinute;
    this.#buckets = buckets;
  }

  /** The whole seconds for which a key from this address is not looked at; 0 where it is. */
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

/** Who has an IPv6 address has at least 2^64 of them (RFC 6177), so it is their network that counts. */
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
