import type { Emitter } from '../../../core/processes/lifetime.ts';
import type { JobTable } from './jobs.ts';
import type { StoreChange } from './storeChange.ts';

/** Counts the queued, starting and running jobs. Counting their rows for each submission would take a millisecond with a long queue. */
export class UnfinishedJobs {
  #count: number;

  constructor(jobs: Pick<JobTable, 'countUnfinished'>, changed: Pick<Emitter<StoreChange>, 'event'>) {
    this.#count = jobs.countUnfinished();
    changed.event(({ type }) => {
      if (type === 'submitted') this.#count += 1;
      else if (type === 'ended') this.#count -= 1;
    });
  }

  get count(): number {
    return this.#count;
  }
}
