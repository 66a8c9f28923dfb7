import { APIError } from 'openai';
import { systemCode } from '../../core/errors.ts';
import { backoffMs, parseRetryAfter, retry } from '../../core/retry.ts';

/** The longest time in `Retry-After` that a request waits; a longer one is an error at once. */
export const MAX_WAIT_MS = 60_000;
const BACKOFF = { firstMs: 500, longestMs: MAX_WAIT_MS, spread: 0.25 };
const SERVER_ERROR = 500;
// A request that timed out, that collides with another one, or that is too many.
const PASSING_STATUS: readonly unknown[] = [408, 409, 429];
// The connection was lost, or the name could not be looked up for now; not: nothing listens there.
const LOST =
  /^(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EAI_AGAIN|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|HPE_\w+)$/;

/**
 * Milliseconds to wait before a request is sent again: `Retry-After` (RFC 9110 section 10.2.3, seconds or a date), otherwise half a second,
 * doubled for each failure, reduced by up to a quarter at random so that clients do not retry all at once. Undefined if the service asks for
 * more than a minute.
 */
export function retryDelayMs(
  retryAfter: string | null | undefined,
  failures: number,
  now = Date.now(),
): number | undefined {
  const requestedMs = parseRetryAfter(retryAfter, now);
  if (requestedMs === undefined) return backoffMs(failures, BACKOFF);
  return requestedMs > MAX_WAIT_MS ? undefined : requestedMs;
}

/** The wait after a failure that may pass, in milliseconds; undefined if the request is not to be sent again. */
export function waitAfter(error: unknown, failures: number): number | undefined {
  if (!mayPass(error)) return undefined;
  const headers: unknown = error instanceof APIError ? error.headers : undefined;
  return retryDelayMs(headers instanceof Headers ? headers.get('retry-after') : undefined, failures);
}

interface RetriedRequest {
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait, in seconds. */
  readonly onWait?: ((seconds: number) => void) | undefined;
}

/**
 * Sends a request again while the service is busy, fails, or the connection is lost.
 *
 * @returns the response with the number of retries.
 * @throws the error of the last request; the signal's own reason on abort.
 */
export async function withRetries<T>(
  send: () => Promise<T>,
  { retries: most, signal, onWait }: RetriedRequest,
): Promise<{ readonly value: T; readonly retries: number }> {
  let retries = 0;
  const value = await retry(send, {
    delayMs: (failures, error) => (failures <= most ? waitAfter(error, failures) : undefined),
    onRetry: (ms) => {
      retries += 1;
      onWait?.(ms / 1000);
    },
    signal,
  });
  return { value, retries };
}

/** Whether the same request may succeed later. A quota that is used up does not come back by waiting. */
function mayPass(error: unknown): boolean {
  if (error instanceof APIError && typeof error.status === 'number') {
    if (error.code === 'insufficient_quota') return false;
    return PASSING_STATUS.includes(error.status) || error.status >= SERVER_ERROR;
  }
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (LOST.test(systemCode(cause) ?? '')) return true;
  return false;
}
