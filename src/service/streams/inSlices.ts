import { setImmediate as nextTurn } from 'node:timers/promises';

// Other requests wait for at most one slice per turn of the event loop. Shorter slices would mean more turns, which cost time too.
const SLICE_MS = 5;

/**
 * Calls `work` for each item, and lets everything else in the service run after every 5 milliseconds.
 *
 * @returns the milliseconds that the calls took together.
 */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<number> {
  let workedMs = 0;
  let startedAt = performance.now();
  for (const item of items) {
    work(item);
    const now = performance.now();
    if (now - startedAt < SLICE_MS) continue;
    workedMs += now - startedAt;
    await nextTurn();
    startedAt = performance.now();
  }
  return workedMs + performance.now() - startedAt;
}
