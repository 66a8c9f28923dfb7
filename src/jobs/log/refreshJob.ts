import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import type { JobRecord } from '../ledger/record.ts';
import { isStale, patchFromJob } from './jobPatch.ts';
import { otherAccountError } from './otherAccount.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../service/api.ts';

const TIMEOUT_SECONDS = 20;

export interface RefreshDeps {
  readonly ledger: Pick<AsyncLedger, 'update'>;
  readonly service: Pick<JobService, 'getJob' | 'me'>;
  /** For the service's response; default: 20. */
  readonly timeoutSeconds?: number;
}

/**
 * The record of a job as its service reports it now. A job that the service no longer has is lost. One of another account than that of the
 * key keeps its last known state.
 *
 * @throws the service's error if it cannot be asked.
 */
export async function refreshJob(
  { ledger, service, timeoutSeconds = TIMEOUT_SECONDS }: RefreshDeps,
  record: JobRecord,
  signal?: AbortSignal,
): Promise<JobRecord> {
  if (record.jobId === null) return record;
  const options = { timeout: timeoutSeconds, ...(signal && { signal }) };
  try {
    const patch = patchFromJob(await service.getJob(record.jobId, options));
    return isStale(patch, record) ? record : await ledger.update(record.id, patch);
  } catch (error) {
    if (classifyFailure(error) !== 'missing') throw error;
    if ((await otherAccountError(service, record, options)) !== undefined) return record;
    const gone = { state: 'lost', reason: 'The service no longer has this job.' };
    return ledger.update(record.id, { ...gone, finishedAt: new Date().toISOString() });
  }
}
