import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { type JobRecord, newRecord } from '../ledger/record.ts';
import { commandWords } from '../../remote/protocol/command.ts';
import { acceptedJobId, receivedJob } from '../../remote/protocol/schemas.ts';
import { reportedAccountId } from './otherAccount.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../service/api.ts';
import { patchFromJob, timeOf } from './jobPatch.ts';

const TIMEOUT_SECONDS = 20;
const SCRIPT_LIMIT = 4_000;
const NAME_LIMIT = 256;

export interface AddedJob {
  readonly host: string;
  readonly jobId: string;
  /** Absolute path of the folder that its results go into. */
  readonly folder: string;
}

/**
 * Adds a job that was sent from elsewhere to the list, as its service reports it now. One that was removed from the list is shown again.
 *
 * @throws AppError `bad-input` for text that cannot be a job ID, `missing` if the service has no such job; the service's own errors.
 */
export async function addJob(
  { ledger, service }: { readonly ledger: AsyncLedger; readonly service: Pick<JobService, 'getJob' | 'me'> },
  { host, jobId, folder }: AddedJob,
  signal: AbortSignal,
): Promise<JobRecord> {
  if (!acceptedJobId.safeParse(jobId).success)
    throw new AppError('bad-input', 'This is not a job ID. Copy the ID from where the job was submitted.');
  const report = await request(service, jobId, signal);
  const account = reportedAccountId(await service.me({ timeout: TIMEOUT_SECONDS, signal })) ?? null;
  const patch = { ...patchFromJob(report), account };
  const existingRecord = await ledger.findJob(host, jobId);
  if (existingRecord !== undefined) return ledger.update(existingRecord.id, { ...patch, removed: false });
  const record = { ...reportedRecord(report, { host, jobId, folder }), account };
  await ledger.insert(record);
  return record;
}

/** A new record of a job that a service reports. @param job.folder empty if its results go nowhere yet. */
export function reportedRecord(report: unknown, { host, jobId, folder }: AddedJob): JobRecord {
  const {
    script,
    command,
    project,
    max_runtime: maxRuntime,
    created_at: createdAt,
  } = receivedJob.safeParse(report).data ?? {};
  return newRecord({
    state: 'queued',
    ...patchFromJob(report),
    id: randomUUID(),
    host,
    jobId,
    folder,
    script: script?.slice(0, SCRIPT_LIMIT) ?? `job ${jobId}`,
    command: commandWords.safeParse(command).data ?? null,
    project: project?.slice(0, NAME_LIMIT) ?? null,
    maxRuntime: maxRuntime ?? 0,
    createdAt: timeOf(createdAt ?? undefined) ?? new Date().toISOString(),
  });
}

async function request(service: Pick<JobService, 'getJob'>, jobId: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await service.getJob(jobId, { timeout: TIMEOUT_SECONDS, signal });
  } catch (error) {
    if (classifyFailure(error) !== 'missing') throw error;
    throw new AppError('missing', `The service has no job ${jobId} in your account. Check the ID and the service.`, {
      cause: error,
    });
  }
}
