import { lutimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// A job whose runner is killed is charged until the last heartbeat, so at most this time is not charged.
const HEARTBEAT_MS = 5_000;

/**
 * Sets the time of a file in the job's folder to now, repeatedly until the signal aborts: the runner's heartbeat, for a service that was
 * not running when the runner was killed. An isolated job cannot reach the file.
 */
export async function beat(path: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(HEARTBEAT_MS, undefined, { signal, ref: false }).catch(() => {});
    try {
      // If a job replaced the file with a link, this sets the link's own time.
      lutimesSync(path, new Date(), new Date());
    } catch {
      // The folder was deleted, or is unreachable for a moment.
    }
  }
}
