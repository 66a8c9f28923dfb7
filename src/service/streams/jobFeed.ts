import type { Disposable } from '../../core/processes/lifetime.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import type { EventPage, EventPages } from './eventPages.ts';
import type { EventReader } from './eventReader.ts';

export interface FeedOptions {
  readonly store: Store;
  readonly pages: EventPages;
  /** How long after events the next ones are sent at the earliest. */
  readonly spacingMs: () => number;
  /** Called when the job has new events that are to be sent. */
  readonly onDue: (feed: JobFeed) => void;
}

/** One job's events and their readers. */
export class JobFeed implements Disposable {
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
