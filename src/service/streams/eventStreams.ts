import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { repeat } from '../../core/processes/repeat.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { type EventPage, EventPages } from './eventPages.ts';
import { EventReader } from './eventReader.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';

// A quiet stream gets a comment at least every 15 seconds: it is checked this often, and gets one after this long.
const CHECK_MS = 2_500;
const QUIET_MS = 12_500;
/** A client that took nothing for this long is asleep or offline. Returning costs it little: Last-Event-ID. */
export const STALLED_MS = 5 * 60_000;
// A write costs the same for one event as for ten, so with more readers more events of a job are written together.
const MAX_WRITES_PER_MS = 25;
// On a busy machine each write takes longer. Half of the time is left for everything else, …
const SPACING_PER_WORK = 2;
// … but no event waits longer than a person would notice.
const MAX_SPACING_MS = 1_000;

// Other requests wait for at most one slice per turn of the event loop. Shorter slices would mean more turns, which cost time too.
const SLICE_MS = 5;

export interface StreamOptions {
  /** The ID of the last event that the client has; 0 for all. */
  readonly after: number;
  readonly isGzipped: boolean;
  /** Its abort ends this stream only. */
  readonly signal: AbortSignal;
}

interface FeedOptions {
  readonly store: Store;
  readonly pages: EventPages;
  /** How long after events the next ones are sent at the earliest. */
  readonly spacingMs: () => number;
  /** Called when the job has new events that are to be sent. */
  readonly onDue: (feed: JobFeed) => void;
}

/**
 * The open event streams. Writers never wait for them: events are in the store, and each reader takes them when its connection
 * has capacity. A job's events wake only its own readers, and readers at the same position share pages.
 */
export class EventStreams {
  readonly #store: Store;
  readonly #pages: EventPages;
  readonly #feeds = new Map<string, JobFeed>();
  readonly #signal: AbortSignal;
  /** Those with new events. */
  #due = new Set<JobFeed>();
  #isPumping = false;
  #open = 0;
  /** How long one reader took lately. */
  #workMs = 0;

  /** @param signal its abort ends all streams. */
  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    this.#pages = new EventPages(store.events);
    this.#signal = signal;
    store.expiry.onDidRemoveEvents((jobNumber) => this.#pages.forget(jobNumber));
    signal.addEventListener('abort', () => {
      for (const reader of readersOf(this.#feeds.values())) reader.end();
    });
    const pace = { quietMs: QUIET_MS, stalledMs: STALLED_MS };
    const keepAlive = () => inSlices(readersOf(this.#feeds.values()), (reader) => reader.keepAlive(pace));
    void repeat(keepAlive, CHECK_MS, signal);
  }

  /** Responds with the job's events after `after`: past ones, then each as it happens, until the job's last. */
  add(job: StoredJob, outgoing: ServerResponse, { after, isGzipped, signal }: StreamOptions): void {
    const feed = this.#feeds.get(job.id) ?? this.#openFeed(job);
    const reader = new EventReader(outgoing, { after, isGzipped, next: feed.next });
    feed.readers.add(reader);
    this.#open += 1;
    outgoing.once('close', () => {
      this.#open -= 1;
      feed.readers.delete(reader);
      if (feed.readers.size > 0) return;
      feed.dispose();
      this.#feeds.delete(job.id);
    });
    signal.addEventListener('abort', () => reader.end());
    if (this.#signal.aborted || signal.aborted) reader.end();
  }

  #openFeed(job: StoredJob): JobFeed {
    const onDue = (due: JobFeed): void => {
      this.#due.add(due);
      if (!this.#isPumping) void this.#pump();
    };
    const spacingMs = (): number => {
      const perReader = Math.max(1 / MAX_WRITES_PER_MS, SPACING_PER_WORK * this.#workMs);
      return Math.min(MAX_SPACING_MS, this.#open * perReader);
    };
    const feed = new JobFeed(job, { store: this.#store, pages: this.#pages, spacingMs, onDue });
    this.#feeds.set(job.id, feed);
    return feed;
  }

  /** Sends new events to their readers until there are none. */
  async #pump(): Promise<void> {
    this.#isPumping = true;
    // Changes that share a transaction are reported one by one.
    await nextTurn();
    while (this.#due.size > 0 && !this.#signal.aborted) {
      const due = this.#due;
      this.#due = new Set();
      for (const feed of due) feed.noteSent();
      const readers = [...readersOf(due)];
      const workedMs = await inSlices(readers, (reader) => reader.pump());
      if (readers.length > 0) this.#workMs = workedMs / readers.length;
      await nextTurn();
    }
    this.#isPumping = false;
  }
}

function* readersOf(feeds: Iterable<JobFeed>): Iterable<EventReader> {
  for (const { readers } of feeds) yield* readers;
}

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

/** One job's events and their readers. */
class JobFeed implements Disposable {
  readonly readers = new Set<EventReader>();
  readonly #job: StoredJob;
  readonly #options: FeedOptions;
  readonly #subscription: Disposable;
  #last: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Undefined until it is read again, after new events. */
  #isFinished: boolean | undefined;

  constructor(job: StoredJob, options: FeedOptions) {
    this.#job = job;
    this.#options = options;
    this.#last = options.store.events.last(job.number);
    this.#subscription = options.store.onDidAppend(job.id, (last) => {
      this.#last = last;
      this.#isFinished = undefined;
      this.#onNews();
    });
  }

  /** Called when the readers are sent what there is. */
  noteSent(): void {
    this.#sentAt = performance.now();
  }

  /** The page after an event. */
  readonly next = (after: number): EventPage | 'wait' | 'over' => {
    const { store, pages } = this.#options;
    // Old events may have been deleted while a reader was slow.
    if (after < this.#last) return pages.get(this.#job, after) ?? 'over';
    this.#isFinished ??= store.jobs.get(this.#job.id)?.finishedAt !== null;
    return this.#isFinished ? 'over' : 'wait';
  };

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }

  #onNews(): void {
    if (this.#timer !== undefined) return;
    const waitMs = this.#sentAt + this.#options.spacingMs() - performance.now();
    if (waitMs <= 0) {
      this.#options.onDue(this);
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#options.onDue(this);
    }, waitMs).unref();
  }
}
