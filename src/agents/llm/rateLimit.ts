import { APIError } from 'openai';
import { backoffMs, parseRetryAfter, retry } from '../../core/retry.ts';

const MAX_WAIT_MS = 60_000;
const BACKOFF = { firstMs: 500, longestMs: MAX_WAIT_MS, spread: 0.25 };

/**
 * Milliseconds to wait before a rate-limited request is sent again: `Retry-After` (RFC 9110 section 10.2.3, seconds or a
 * date) up to a minute, otherwise half a second, doubled for each failure, reduced by up to a quarter at random so that clients
 * do not retry all at once.
 */
export function retryDelayMs(
  retryAfter: string | null | undefined,
  failures: number,
  now = Date.now(),
): number | undefined {
  const requestedMs = parseRetryAfter(retryAfter, now);
  return requestedMs === undefined ? backoffMs(failures, BACKOFF) : Math.min(requestedMs, MAX_WAIT_MS);
}

interface RateLimitOptions {
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
  { retries: most, signal, onWait }: RateLimitOptions,
): Promise<{ readonly value: T; readonly retries: number }> {
  let retries = 0;
  const value = await retry(send, {
    delayMs: (failures, error) =>
      isRateLimit(error) && failures <= most ? retryDelayMs(error.headers?.get('retry-after'), failures) : undefined,
    onRetry: (ms) => {
      retries += 1;
      onWait?.(ms / 1000);
    },
    signal,
  });
  return { value, retries };
}

/** Whether waiting can help: status 429, unless the account's quota is used up. */
function isRateLimit(error: unknown): error is APIError {
  return error instanceof APIError && error.status === 429 && error.code !== 'insufficient_quota';
}
