import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteError } from './errors.ts';

const DEFAULT_MAX_SECONDS = 600;
const TOO_MANY_REQUESTS = 429;
// A service that asks for 0 seconds would be called in a tight loop.
const MIN_SECONDS = 1;
// Random, so that clients with the same delay do not retry at the same moment.
const SPREAD_MS = 500;

/** How to handle 429 with `Retry-After`. */
export interface RetryAfterPolicy {
  /** The longest total wait of one call; 600 if absent. A longer delay is not waited for. */
  readonly maxSeconds?: number;
  /** Called before each wait, with the service's reason. */
  onWait?(seconds: number, reason: string): void;
}

/**
 * Repeats a call after the delay that the service requests (429 with `Retry-After`). The service did nothing in that case, so a
 * submit may be repeated too.
 *
 * @throws the call's other errors, or the signal's reason on abort.
 */
export async function withRetryAfter<T>(
  retryAfter: RetryAfterPolicy | undefined,
  { signal, closed }: { signal: AbortSignal | undefined; closed: AbortSignal },
  call: () => Promise<T>,
): Promise<T> {
  const { maxSeconds = DEFAULT_MAX_SECONDS } = retryAfter ?? {};
  let waited = 0;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (retryAfter === undefined || !(error instanceof RemoteError) || error.status !== TOO_MANY_REQUESTS)
        throw error;
      if (error.retryAfter === undefined) throw error;
      const seconds = Math.max(MIN_SECONDS, error.retryAfter);
      if (waited + seconds > maxSeconds) throw error;
      waited += seconds;
      retryAfter.onWait?.(seconds, error.message.replace(/^HTTP \d+: /, ''));
      const ended = signal === undefined ? closed : AbortSignal.any([signal, closed]);
      await sleep(seconds * 1_000 + Math.random() * SPREAD_MS, undefined, { signal: ended }).catch(() => {});
      signal?.throwIfAborted();
    }
  }
}
