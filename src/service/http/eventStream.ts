import type { StoredEvent } from '../store/events.ts';
import type { StoredJob } from '../store/jobs.ts';
import type { Store } from '../store/store.ts';

const KEEP_ALIVE_MS = 15_000;
// Events hold up to 64 KB of text, so this bounds what a slow reader costs.
const PAGE = 32;

/**
 * A job's events after `after` as Server-Sent Events: those of the past, then each as it happens, until the job's last.
 *
 * Nothing is kept for a reader: each page is read from the store when the connection has room for it.
 */
export function eventStream(
  store: Store,
  job: StoredJob,
  after: number,
  shutdown: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, shutdown]);
  let last = after;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          // Asked before reading, so that an end that comes in between is read too.
          const isFinal = store.jobs.get(job.id)?.finishedAt !== null;
          const events = store.events(job, last, PAGE);
          last = events.at(-1)?.id ?? last;
          if (events.length > 0) controller.enqueue(encoder.encode(events.map(encodeEvent).join('')));
          if (isFinal && events.length < PAGE) return controller.close();
          if (events.length > 0) return;
          const hasMore = await nextAppend(store, job.id, signal);
          if (signal.aborted) return controller.close();
          if (!hasMore) return controller.enqueue(encoder.encode(': keep-alive\n\n'));
        }
      },
      cancel: () => left.abort(),
    },
    { highWaterMark: 0 },
  );
}

function encodeEvent({ id, type, data }: StoredEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}

/** Waits for events to be added; false when it is time to show that the connection lives. */
function nextAppend(store: Store, jobId: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (hasMore: boolean): void => {
      subscription.dispose();
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(hasMore);
    };
    const onAbort = (): void => settle(false);
    const subscription = store.onDidAppend(jobId, () => settle(true));
    const timer = setTimeout(settle, KEEP_ALIVE_MS, false);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) settle(false);
  });
}
