import type { Ending, NewJob, StoredJob } from './jobs.ts';

/** A change of the store, for metrics. */
export type StoreChange =
  | { readonly type: 'submitted'; readonly job: NewJob }
  | { readonly type: 'started'; readonly job: StoredJob; readonly at: number }
  | { readonly type: 'ended'; readonly job: StoredJob; readonly ending: Ending }
  | { readonly type: 'events'; readonly count: number };
