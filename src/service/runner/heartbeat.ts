import { lutimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// A runner that is killed is charged up to its last sign of life, so this is what a job costs too little at most.
const HEARTBEAT_MS = 5_000;

/**
 * Gives a file of the job's folder the present time again and again until the signal aborts: the runner's sign of life, for a
 * service that was not there when the runner was killed. An isolated job cannot reach the file.
 */
export async function beat(path: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(HEARTBEAT_MS, undefined, { signal, ref: false }).catch(() => {});
    try {
      // Of a link that a job put there, the link's own time.
      lutimesSync(path, new Date(), new Date());
    } catch {
      // The folder was removed, or cannot be reached for a moment.
    }
  }
}
