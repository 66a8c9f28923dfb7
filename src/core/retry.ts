import { setTimeout as sleep } from 'node:timers/promises';

/** How the delays between attempts grow. */
export interface Backoff {
  /** Milliseconds after the first failure. */
  readonly firstMs: number;
  /** By how much each further delay is longer; 2 if absent. */
  readonly factor?: number;
  /** Milliseconds that no delay exceeds; 30 s if absent. */
  readonly longestMs?: number;
  /** How many failures in a row are retried; all if absent. */
  readonly retries?: number;
  /** The share of each delay that is random, so that not all clients return at once: with 0.25, a delay is 75 to 100 % of itself. 0 if absent. */
  readonly spread?: number;
}

/** Milliseconds to wait after so many failures in a row; undefined once all retries are used. */
export function backoffMs(
  failures: number,
  { firstMs, factor = 2, longestMs = 30_000, retries = Infinity, spread = 0 }: Backoff,
): number | undefined {
  if (failures > retries) return undefined;
  return Math.min(longestMs, firstMs * factor ** (failures - 1)) * (1 - spread * Math.random());
}

export interface RetryOptions {
  /**
   * Milliseconds to wait after a failure; undefined if another attempt makes no sense, and the failure is thrown.
   *
   * @param failures in a row, this one included.
   */
  readonly delayMs: (failures: number, failure: unknown) => number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait. */
  readonly onRetry?: (delayMs: number, failure: unknown) => void;
  /** Replaces the wait, in tests also its time. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The failures in a row of something that is attempted repeatedly, and the waits after them. */
export class Retries {
  readonly #options: RetryOptions;
  #failures = 0;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** An attempt has made progress, so the next failure counts as the first. */
  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next attempt. @throws the failure if there is none; the signal's reason on abort. */
  async wait(failure?: unknown): Promise<void> {
    const { delayMs, signal, onRetry, sleep: pause = delay } = this.#options;
    signal?.throwIfAborted();
    this.#failures += 1;
    const ms = delayMs(this.#failures, failure);
    if (ms === undefined) throw failure;
    onRetry?.(ms, failure);
    if (ms > 0) await pause(ms, signal);
  }
}

/**
 * Attempts something until it succeeds.
 *
 * @param attempt resets the retries it is called with when it makes progress.
 * @throws its failure once that is not to be retried; the signal's reason on abort.
 */
export async function retry<T>(attempt: (retries: Retries) => Promise<T>, options: RetryOptions): Promise<T> {
  const retries = new Retries(options);
  for (;;) {
    try {
      return await attempt(retries);
    } catch (failure) {
      await retries.wait(failure);
    }
  }
}

/** Waits. @throws the signal's own reason on abort, not the timer's AbortError. */
export async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/**
 * The wait in milliseconds from a `Retry-After` header with seconds or a date (RFC 9110, section 10.2.3); undefined for anything
 * else.
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
