const MAX_IDLE_BUCKETS = 10_000;
const MS_OF_MINUTE = 60_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Limits how often something may happen per minute, for each of many names. Each token bucket holds a minute's worth, so a burst
 * after a quiet time is allowed, and the average is kept.
 */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  /** @param now returns milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a token and returns 0, or takes none and returns the whole seconds until there is one. */
  take(name: string, perMinute: number): number {
    const seconds = this.secondsUntilNext(name, perMinute);
    if (seconds > 0 || perMinute === Number.POSITIVE_INFINITY) return seconds;
    const { tokens, at } = this.#fill(name, perMinute);
    this.#buckets.delete(name); // and added at the end, so that the least recently used come first
    this.#buckets.set(name, { tokens: tokens - 1, at });
    this.#forgetFull();
    return 0;
  }

  /** The whole seconds until there is a token; 0 if there is one now. */
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

  /** A bucket that was not used for a minute is full, like one that does not exist. */
  #forgetFull(): void {
    if (this.#buckets.size <= MAX_IDLE_BUCKETS) return;
    const now = this.#now();
    for (const [name, { at }] of this.#buckets) {
      if (now - at < MS_OF_MINUTE && this.#buckets.size <= 2 * MAX_IDLE_BUCKETS) return;
      this.#buckets.delete(name);
    }
  }
}
