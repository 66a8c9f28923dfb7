import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import type { Backoff } from '../../core/retry.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { holdLease } from '../ledger/lease.ts';
import { isOver, type JobRecord } from '../ledger/record.ts';
import type { ContactWatch } from '../service/contactWatch.ts';
import type { ResultCounter } from './resultCounter.ts';
import { Recorder } from './recorder.ts';
import type { SpooledEvent } from './spool.ts';
import { type StreamDeps, streamToEnd } from './reconnectingStream.ts';

export interface FollowDeps extends StreamDeps {
  readonly ledger: AsyncLedger;
  readonly results: Pick<ResultCounter, 'count'>;
}

export interface FollowJobOptions {
  readonly signal: AbortSignal;
  /** Called after each change that this follower makes to the record. */
  readonly onUpdate?: (record: JobRecord) => void;
  /** Called when the service can no longer be reached, and when it can be reached again. */
  readonly onContact?: (isReachable: boolean) => void;
  /** When the service responds again, the stream is reopened. */
  readonly contact?: Pick<ContactWatch, 'returned'>;
  /** How long a lease lasts without renewal; 10 s by default. */
  readonly leaseMs?: number;
  /** Waits between attempts to reach the service; 1 s to 30 s by default. */
  readonly backoff?: Backoff;
}

const LEASE_MS = 10_000;
// There is no last retry: a laptop may sleep for days while its job runs.
const BACKOFF = { firstMs: 1_000 };

/**
 * Keeps the spool and the ledger record of a job up to date until the job has ended, counts its results, and returns its last record. Of
 * all processes that follow a job, one streams; the others wait and take over when it stops. Read the log from the spool.
 *
 * @throws the service's error if it refuses the key (401, 403); AppError `missing` if the job has no ID or its record was deleted; the
 *   signal's reason on abort. Network failures are retried without limit.
 */
export async function followJob(deps: FollowDeps, id: string, options: FollowJobOptions): Promise<JobRecord> {
  const { signal, leaseMs = LEASE_MS } = options;
  const owner = randomUUID();
  for (;;) {
    signal.throwIfAborted();
    const record = await readRecord(deps.ledger, id);
    if (isOver(record) && (await deps.spool.tail()).some(({ event }) => event === 'end'))
      return withResults(deps, record, options);
    if (record.jobId !== null && (await deps.ledger.claim(id, owner, leaseMs))) {
      const last = await streamUnderLease(deps, record, { ...options, leaseMs, owner });
      if (last !== undefined) return withResults(deps, last, options);
    }
    await sleep(leaseMs / 4, undefined, { signal });
  }
}

/** Follows a job and yields its events, those in the spool first. Returns its last record. Leaving the loop stops following. */
export async function* watchJob(
  deps: FollowDeps,
  id: string,
  options: FollowJobOptions & { after?: number },
): AsyncGenerator<SpooledEvent, JobRecord> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const following = followJob(deps, id, { ...options, signal });
  // Without this, the loop would wait for the spool forever after the follower has failed.
  following.catch((error: unknown) => stop.abort(error));
  try {
    yield* deps.spool.follow({ after: options.after ?? 0, signal });
    return await following;
  } finally {
    stop.abort();
    await following.catch(() => {});
  }
}

/** Streams the job to its end. Returns the last record, or undefined if another process took the lease. */
async function streamUnderLease(
  deps: FollowDeps,
  record: JobRecord,
  options: FollowJobOptions & { leaseMs: number; owner: string },
): Promise<JobRecord | undefined> {
  const { owner, leaseMs } = options;
  await using lease = holdLease(deps.ledger, record.id, { owner, leaseMs });
  const signal = AbortSignal.any([options.signal, lease.lost]);
  const onUpdate = (changed: JobRecord): void => options.onUpdate?.(changed);
  const recorder = new Recorder(record, { ledger: deps.ledger, spool: deps.spool, onUpdate });
  try {
    return await streamToEnd(deps, recorder, {
      signal,
      backoff: options.backoff ?? BACKOFF,
      onContact: (isReachable) => options.onContact?.(isReachable),
      contact: options.contact,
    });
  } catch (error) {
    options.signal.throwIfAborted();
    if (lease.lost.aborted) return undefined;
    throw error;
  }
}

/** The record with the number of results, which another process may have counted already. */
async function withResults(
  { ledger, results }: Pick<FollowDeps, 'ledger' | 'results'>,
  record: JobRecord,
  { onUpdate }: Pick<FollowJobOptions, 'onUpdate'>,
): Promise<JobRecord> {
  if (record.results !== null) return record;
  const counted = await results.count(record.id);
  if (counted === null) return record;
  const changed = await ledger.update(record.id, { results: counted });
  onUpdate?.(changed);
  return changed;
}

async function readRecord(ledger: AsyncLedger, id: string): Promise<JobRecord> {
  const record = await ledger.get(id);
  if (record === undefined) throw new AppError('missing', 'This job is no longer in the list.');
  if (record.jobId === null && record.state !== 'sending')
    throw new AppError('missing', 'The service did not return a job ID, so this job cannot be followed.');
  return record;
}
