import { setTimeout as sleep } from 'node:timers/promises';
import { isAbort } from '../errors.ts';

/**
 * Runs `work` now, and again `intervalMs` after each run has ended, until the signal aborts. The wait keeps no process alive.
 *
 * @throws what `work` throws, unless that is an abort.
 */
export async function repeat(work: () => unknown, intervalMs: number, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) {
      await work();
      await sleep(intervalMs, undefined, { signal, ref: false });
    }
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}
