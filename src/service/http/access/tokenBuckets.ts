const MAX_IDLE_BUCKETS = 10_000;
const MS_OF_MINUTE = 60_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Counts what may happen so many times a minute, for each of many names: a token bucket that holds a minute's worth, so that
 * a burst after a quiet time passes and the mean holds.
 */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  /** @param now milliseconds, never going back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a token, and gives 0; or takes none, and gives the whole seconds until there is one. */
  take(name: string, perMinute: number): number {
    const seconds = this.secondsUntilNext(name, perMinute);
    if (seconds > 0 || perMinute === Number.POSITIVE_INFINITY) return seconds;
    const { tokens, at } = this.#fill(name, perMinute);
    this.#buckets.delete(name); // and in again as the last one, so that those at the front are the longest unused
    this.#buckets.set(name, { tokens: tokens - 1, at });
    this.#forgetFull();
    return 0;
  }

  /** The whole seconds until there is a token; 0 where there is one now. */
  secondsUntilNext(name: string, perMinute: number): number {
    if (perMinute === Number.POSITIVE_INFINITY) return 0;
    const { tokens } = this.#fill(name, perMinute);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * MS_OF_MINUTE) / perMinute / 1_000);
  }

  #fill(name: string, perMinute: number): Bucket {
    const at = this.#now();
    const before = this.#buckets.get(name);
    if (before === undefined) return { tokens: perMinute, at };
    const tokens = Math.min(perMinute, before.tokens + ((at - before.at) * perMinute) / MS_OF_MINUTE);
    return { tokens, at };
  }

  /** A bucket that was not used for a minute is full, which is what one that is not there is. */
  #forgetFull(): void {
    if (this.#buckets.size <= MAX_IDLE_BUCKETS) return;
    const now = this.#now();
    for (const [name, { at }] of this.#buckets) {
      if (now - at < MS_OF_MINUTE && this.#buckets.size <= 2 * MAX_IDLE_BUCKETS) return;
      this.#buckets.delete(name);
    }
  }
}
