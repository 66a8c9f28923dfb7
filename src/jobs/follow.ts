import type { JobService } from './api.ts';
import type { AsyncLedger } from './asyncLedger.ts';
import type { JobRecord } from './record.ts';
import type { EventSpool, SpooledEvent } from './spool.ts';

export interface FollowDeps {
  readonly service: Pick<JobService, 'getJob' | 'streamEvents'>;
  readonly ledger: AsyncLedger;
  readonly spool: EventSpool;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called after each change of the record by this follower. */
  onUpdate?(record: JobRecord): void;
  /** How long a lease lasts without renewal; 10 s unless given. */
  readonly leaseMs?: number;
  /** Waits between attempts to reach the service, the last one repeated; 1 s to 30 s unless given. */
  readonly retryDelaysMs?: readonly number[];
}

/**
 * Keeps the spool and the ledger record of a job up to date until it is over, and gives its last record. Of all
 * processes that follow a job one streams; the others wait and take over when it is gone. Read the log from the spool.
 *
 * @throws the service's error when it refuses the key (401, 403); the signal's reason on abort. A missing network is waited out.
 */
export async function followJob(_deps: FollowDeps, _id: string, _options: FollowOptions): Promise<JobRecord> {
  throw new Error('not built yet');
}

/** Follows a job and yields its events, those already spooled first; returns its last record. Leaving the loop stops the following. */
export function watchJob(
  _deps: FollowDeps,
  _id: string,
  _options: FollowOptions & { after?: number },
): AsyncGenerator<SpooledEvent, JobRecord> {
  throw new Error('not built yet');
}
