import type { Disposable } from '../../core/processes/lifetime.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';
import type { Store } from '../store/store.ts';
import type { EventPage, EventPages } from './eventPages.ts';
import type { EventReader } from './eventReader.ts';

export interface FeedOptions {
  readonly store: Store;
  readonly pages: EventPages;
  /** Returns the current minimum time between two rounds of its readers. */
  readonly spacingMs: () => number;
}

/** One job's events and their readers. New events cause a round of writes to all readers, at a limited rate. */
export class JobFeed implements Disposable {
  readonly readers = new Set<EventReader>();
  readonly #job: StoredJob;
  readonly #options: FeedOptions;
  readonly #subscription: Disposable;
  #last: number;
  #isFinished = false;
  #pumpedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(job: StoredJob, options: FeedOptions) {
    this.#job = job;
    this.#options = options;
    this.#last = options.store.events.last(job.number);
    this.#refresh();
    this.#subscription = options.store.onDidAppend(job.id, (last) => this.#onAppend(last));
  }

  /** The page after an event. */
  readonly next = (after: number): EventPage | 'wait' | 'over' => {
    if (after >= this.#last) return this.#isFinished ? 'over' : 'wait';
    // Old events may have been deleted while a reader was slow.
    return this.#options.pages.get(this.#job, after) ?? 'over';
  };

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }

  #onAppend(last: number): void {
    this.#last = last;
    const waitMs = this.#pumpedAt + this.#options.spacingMs() - performance.now();
    this.#timer ??= setTimeout(() => this.#pump(), Math.max(0, waitMs));
  }

  #pump(): void {
    this.#timer = undefined;
    this.#pumpedAt = performance.now();
    this.#refresh();
    for (const reader of this.readers) reader.pump();
  }

  #refresh(): void {
    this.#isFinished = this.#options.store.jobs.get(this.#job.id)?.finishedAt !== null;
  }
}
