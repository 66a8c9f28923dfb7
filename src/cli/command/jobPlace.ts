import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AsyncLedger, directLedger } from '../../jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../jobs/ledger/ledger.ts';
import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import { type JobRecord, newRecord } from '../../jobs/ledger/record.ts';
import { settleEarlier } from '../../jobs/send/settle.ts';
import { type Job, receivedJob } from '../../remote/protocol/schemas.ts';
import type { Session } from './session.ts';

/** A job with the location of its record and events. */
export interface JobPlace extends AsyncDisposable {
  readonly record: JobRecord & { readonly jobId: string };
  readonly ledger: AsyncLedger;
  readonly home: string;
  /** Whether this user sent it from this machine, so that its folder is known. */
  readonly isOwn: boolean;
}

/**
 * Finds a job by the service's ID or the start of ours. A job that was submitted elsewhere is looked up at the service and
 * stored in a temporary ledger, because its folder is unknown here.
 *
 * @throws AppError `bad-input` if the name is ambiguous or the service never accepted the job; the service's own error.
 */
export async function findJobPlace(session: Session, name: string, signal: AbortSignal): Promise<JobPlace> {
  for (const found of session.ledger.find(name, session.host)) {
    const deps = { service: session.sender(), ledger: session.asyncLedger };
    if (found.state === 'unknown') await settleEarlier(deps, found, { signal });
  }
  const { jobId, record } = session.resolveJob(name);
  if (record === undefined) return openScratchPlace(session, jobId, signal);
  const nothing = async (): Promise<void> => {};
  return {
    record: { ...record, jobId },
    ledger: session.asyncLedger,
    home: session.home,
    isOwn: true,
    [Symbol.asyncDispose]: nothing,
  };
}

async function openScratchPlace(session: Session, jobId: string, signal: AbortSignal): Promise<JobPlace> {
  const job = await session.ask(jobId, (client) => client.getJob(jobId, { signal }));
  const home = await mkdtemp(join(tmpdir(), 'farwharf-'));
  const ledger = new JobLedger(home);
  const record = { ...recordOfForeign(job, session.host, jobId), ...patchFromJob(job), jobId };
  ledger.insert(record);
  return {
    record,
    ledger: directLedger(ledger),
    home,
    isOwn: false,
    [Symbol.asyncDispose]: async () => {
      ledger.dispose();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A record of a job that was not sent from this machine. */
export function recordOfForeign(answer: Job, host: string, jobId: string): JobRecord {
  const job = receivedJob.parse(answer);
  return newRecord({
    id: randomUUID(),
    host,
    jobId,
    state: job.state ?? 'unknown',
    script: job.script ?? '',
    command: job.command,
    project: job.project,
    machineClass: job.machine_class,
    maxRuntime: job.max_runtime ?? 0,
    folder: '',
    createdAt: job.created_at ?? new Date().toISOString(),
  });
}
