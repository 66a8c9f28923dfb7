import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteError } from './errors.ts';

const DEFAULT_MAX_SECONDS = 600;
const TOO_MANY_REQUESTS = 429;
// Whoever says "now" says it again at once, for ever.
const MIN_SECONDS = 1;
// So that those who were told the same time do not come back at once.
const SPREAD_MS = 500;

/** What to do about a service that says: too many requests, come again in so many seconds. */
export interface RetryAfterPolicy {
  /** How long one call waits in all; 600 unless given. A service that asks for more is not waited for. */
  readonly maxSeconds?: number;
  /** Called before each wait, with what the service said. */
  onWait?(seconds: number, reason: string): void;
}

/**
 * Repeats a call that the service put off (429 with `Retry-After`) once it says that it may come again. A call that was put
 * off did nothing, so a submit may be repeated too.
 *
 * @throws what the call throws otherwise, or the signal's reason on abort.
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
