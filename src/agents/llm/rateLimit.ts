import { setTimeout as sleep } from 'node:timers/promises';
import { parseRetryAfter } from '../../core/network/retryAfter.ts';

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

/** @throws the signal's own reason on abort. */
export async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
