import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for `ms` milliseconds. @throws the signal's own reason on abort, not the timer's AbortError. */
export async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
