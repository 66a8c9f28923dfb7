import type { JobService } from '../service/api.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { isActive, isOver, type JobRecord } from '../ledger/record.ts';
import { refreshJob } from '../log/refreshJob.ts';
import { settleEarlier } from '../send/settle.ts';
import { MOST_SWEEP_JOBS } from '../profiles/matrix.ts';

const AT_ONCE = 8;

export interface SurveyDeps {
  readonly ledger: Pick<AsyncLedger, 'list' | 'update' | 'delete' | 'settleAbandoned'>;
  readonly service: Pick<JobService, 'getJob' | 'me' | 'getSubmission'>;
}

/**
 * The current records of the jobs of a sweep that exist, or may exist, at the service. The record of an upload that certainly did not
 * arrive is deleted, so that the job can be sent again with the same key.
 *
 * @throws the service's error if it cannot be asked; the signal's reason on abort.
 */
export async function surveyJobs(
  { ledger, service }: SurveyDeps,
  sweepId: string,
  signal: AbortSignal,
): Promise<readonly JobRecord[]> {
  await ledger.settleAbandoned();
  const records = await ledger.list({ sweep: sweepId, withRemoved: true, limit: MOST_SWEEP_JOBS });
  const current: JobRecord[] = [];
  const survey = async (record: JobRecord): Promise<void> => {
    signal.throwIfAborted();
    const settled = record.state === 'unknown' ? await settleEarlier({ service, ledger }, record, { signal }) : record;
    if (settled.jobId === null && isOver(settled)) await ledger.delete(settled.id);
    else current.push(isActive(settled) ? await refreshJob({ ledger, service }, settled, signal) : settled);
  };
  for (let start = 0; start < records.length; start += AT_ONCE) {
    await Promise.all(records.slice(start, start + AT_ONCE).map(survey));
  }
  return current;
}
