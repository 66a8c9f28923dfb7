import { setTimeout as sleep } from 'node:timers/promises';
import { processOwner } from '../../core/processes/processOwner.ts';
import type { RemoteClient } from '../../remote/client.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { isActive, type JobRecord } from '../ledger/record.ts';
import { isStale, patchFromJob } from '../log/jobPatch.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import { MOST_SWEEP_JOBS } from '../profiles/matrix.ts';
import type { Sweep } from './sweep.ts';
import { SweepStore } from './sweepStore.ts';

const LEASE_MS = 30_000;
const RETRY_MS = 250;

export interface CancelSweepDeps {
  readonly ledger: AsyncLedger;
  readonly service: Pick<RemoteClient, 'cancel'>;
  /** FARWHARF_HOME. */
  readonly home: string;
}

/**
 * Sends no more jobs of a sweep and stops those that have not ended, also one that another process is just sending.
 *
 * @returns how many jobs were stopped. @throws the service's error; running the function again continues. The signal's reason on abort.
 */
export async function cancelSweep(
  { ledger, service, home }: CancelSweepDeps,
  sweep: Sweep,
  signal: AbortSignal,
): Promise<number> {
  await new SweepStore(home).write({ ...sweep, isCancelled: true });
  const cancelAll = async (): Promise<number> => {
    const jobs = await ledger.list({ sweep: sweep.id, withRemoved: true, limit: MOST_SWEEP_JOBS });
    const running = jobs.filter(isActive);
    for (const record of running) await cancelJob({ ledger, service }, record, signal);
    return running.length;
  };
  const stopped = await cancelAll();
  // The process that sends the sweep sees that it was cancelled before the next job, and then releases the lease.
  const owner = `${processOwner()}-cancel`;
  while (!(await ledger.claim(sweep.id, owner, LEASE_MS))) await sleep(RETRY_MS, undefined, { signal });
  try {
    return stopped + (await cancelAll());
  } finally {
    await ledger.release(sweep.id, owner);
  }
}

async function cancelJob(
  { ledger, service }: Pick<CancelSweepDeps, 'ledger' | 'service'>,
  record: JobRecord,
  signal: AbortSignal,
): Promise<void> {
  try {
    const patch = patchFromJob(await service.cancel(record.jobId ?? '', { signal }));
    if (!isStale(patch, record)) await ledger.update(record.id, patch);
  } catch (error) {
    if (classifyFailure(error) !== 'missing') throw error;
  }
}
