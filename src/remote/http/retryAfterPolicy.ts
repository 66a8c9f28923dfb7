import { messageOf } from '../../core/errors.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import { delay, retry } from '../../core/retry.ts';
import { RemoteError } from './remoteErrors.ts';

const DEFAULT_MAX_SECONDS = 600;
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
  policy: RetryAfterPolicy | undefined,
  { signal, closed }: { signal: AbortSignal | undefined; closed: AbortSignal },
  call: () => Promise<T>,
): Promise<T> {
  if (policy === undefined) return call();
  const { maxSeconds = DEFAULT_MAX_SECONDS } = policy;
  const ended = signal === undefined ? closed : AbortSignal.any([signal, closed]);
  let waitedMs = 0;
  return retry(call, {
    signal,
    delayMs: (_, failure) => {
      const ms = askedMs(failure);
      if (ms === undefined || waitedMs + ms > maxSeconds * 1_000) return undefined;
      waitedMs += ms;
      return ms;
    },
    onRetry: (ms, failure) => policy.onWait?.(ms / 1_000, messageOf(failure).replace(/^HTTP \d+: /, '')),
    // A client that is closed meanwhile says so in the next call.
    sleep: (ms) => delay(ms + Math.random() * SPREAD_MS, ended).catch(() => signal?.throwIfAborted()),
  });
}

/** The milliseconds that a busy service asks for; undefined if it does not, and for other failures. */
function askedMs(failure: unknown): number | undefined {
  if (!(failure instanceof RemoteError) || failure.retryAfter === undefined) return undefined;
  return classifyFailure(failure) === 'busy' ? Math.max(MIN_SECONDS, failure.retryAfter) * 1_000 : undefined;
}
