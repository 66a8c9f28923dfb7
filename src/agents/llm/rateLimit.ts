import { APIError } from 'openai';
import { parseRetryAfter } from '../../core/network/retryAfter.ts';
import { delay } from '../options/delay.ts';

const MAX_WAIT_MS = 60_000;
const FIRST_BACKOFF_MS = 500;

/**
 * Milliseconds to wait before a rate-limited request is sent again: `Retry-After` (RFC 9110 section 10.2.3, seconds or a
 * date) up to a minute, otherwise half a second, doubled for each attempt, reduced by up to a quarter at random so that clients
 * do not retry all at once.
 */
export function retryDelayMs(retryAfter: string | null | undefined, attempt: number, now = Date.now()): number {
  const asked = parseRetryAfter(retryAfter, now);
  if (asked !== undefined) return Math.min(asked, MAX_WAIT_MS);
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (attempt - 1), MAX_WAIT_MS);
  return backoff * (1 - Math.random() / 4);
}

interface RetryOptions {
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait, in seconds. */
  readonly onWait?: ((seconds: number) => void) | undefined;
}

/**
 * Sends a request again while the service is busy, after the time it specifies.
 *
 * @returns the response with the number of retries.
 * @throws the error of the last request; the signal's own reason on abort.
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  { retries: most, signal, onWait }: RetryOptions,
): Promise<{ readonly value: T; readonly retries: number }> {
  for (let retries = 0; ; retries += 1) {
    try {
      return { value: await send(), retries };
    } catch (error) {
      if (!isRateLimit(error) || retries >= most) throw error;
      const waitMs = retryDelayMs(error.headers?.get('retry-after'), retries + 1);
      onWait?.(waitMs / 1000);
      await delay(waitMs, signal);
    }
  }
}

/** Whether waiting can help: status 429, unless the account's quota is used up. */
function isRateLimit(error: unknown): error is APIError {
  return error instanceof APIError && error.status === 429 && error.code !== 'insufficient_quota';
}
