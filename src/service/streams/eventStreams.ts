import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredJob } from '../store/jobs/jobs.ts';
import type { Store } from '../store/store.ts';
import { EventPages } from './eventPages.ts';
import { EventReader } from './eventReader.ts';
import { JobFeed } from './jobFeed.ts';

// A quiet stream carries a comment every 15 seconds at most: looked at this often, one that was quiet for so long gets one.
const LOOK_MS = 2_500;
const QUIET_MS = 12_500;
/** Whoever took nothing for this long has gone to sleep or lost the network. Coming back costs little: Last-Event-ID. */
export const STALLED_MS = 5 * 60_000;
// One write costs the same for one event as for ten, so the more read, the more events are written together.
const MAX_WRITES_PER_MS = 20;
const MAX_SPACING_MS = 1_000;

export interface StreamOptions {
  /** The id of the last event that the client has; 0 for all. */
  readonly after: number;
  readonly isGzipped: boolean;
  /** Its abort ends this stream alone. */
  readonly signal: AbortSignal;
}

/**
 * The event streams that are open. Writers never wait for them: an event is in the store, and each reader takes it from
 * there when its connection has room. A job's events wake its own readers alone, and readers at the same place share pages.
 */
export class EventStreams {
  readonly #store: Store;
  readonly #pages: EventPages;
  readonly #feeds = new Map<string, JobFeed>();
  readonly #signal: AbortSignal;
  #open = 0;
  #written = 0;

  /** @param signal its abort ends all streams. */
  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    this.#pages = new EventPages(store);
    this.#signal = signal;
    store.expiry.onDidRemoveEvents((jobNumber) => this.#pages.forget(jobNumber));
    signal.addEventListener('abort', () => this.#forEach((reader) => reader.end()));
    void this.#keepAlive();
  }

  /** Connections that read now. */
  get open(): number {
    return this.#open;
  }

  /** Events written to connections until now; one that two read counts twice. */
  get written(): number {
    return this.#written;
  }

  /** Answers with the job's events after `after`: those of the past, then each as it happens, until the job's last. */
  add(job: StoredJob, outgoing: ServerResponse, { after, isGzipped, signal }: StreamOptions): void {
    const feed = this.#feeds.get(job.id) ?? this.#openFeed(job);
    const onWritten = (events: number): void => void (this.#written += events);
    const reader = new EventReader(outgoing, { after, isGzipped, next: feed.next, onWritten });
    feed.readers.add(reader);
    this.#open += 1;
    outgoing.once('close', () => {
      this.#open -= 1;
      feed.readers.delete(reader);
      if (feed.readers.size > 0) return;
      feed.dispose();
      this.#feeds.delete(job.id);
    });
    reader.pump();
    signal.addEventListener('abort', () => reader.end());
    if (this.#signal.aborted || signal.aborted) reader.end();
  }

  #openFeed(job: StoredJob): JobFeed {
    const spacingMs = (): number => Math.min(MAX_SPACING_MS, this.#open / MAX_WRITES_PER_MS);
    const feed = new JobFeed(job, { store: this.#store, pages: this.#pages, spacingMs });
    this.#feeds.set(job.id, feed);
    return feed;
  }

  #forEach(call: (reader: EventReader) => void): void {
    for (const { readers } of this.#feeds.values()) for (const reader of readers) call(reader);
  }

  async #keepAlive(): Promise<void> {
    while (!this.#signal.aborted) {
      this.#forEach((reader) => reader.keepAlive({ quietMs: QUIET_MS, stalledMs: STALLED_MS }));
      await sleep(LOOK_MS, undefined, { signal: this.#signal, ref: false }).catch(() => {});
    }
  }
}
