import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '../../core/errors.ts';
import type { JobCreated } from '../../remote/protocol/schemas.ts';
import { httpStatus, type JobService } from '../service/api.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { didNotArrive } from '../service/outcome.ts';
import type { JobRecord } from '../ledger/record.ts';

// Long enough for a service that is restarting, or a network that comes back.
const RETRY_DELAYS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
const CHECK_EVERY_MS = 1_000;
const TIMEOUT = { connect: 5, read: 20 };
// A service stores keys for at least a day. After that, a missing key proves nothing.
const ABSENCE_COUNTS_MS = 24 * 3_600_000;

/** The outcome of a submission; `unknown` if the service does not report it. */
export type Outcome =
  | { readonly type: 'accepted'; readonly created: JobCreated }
  | { readonly type: 'not-taken'; readonly receivedBytes: number }
  | { readonly type: 'unknown' };

/**
 * Asks the service what became of a submission whose response was lost, by its key, which is the record's ID. This changes nothing there.
 * Returns `unknown` if the service does not support keys, the account has changed, the service cannot be reached, or the signal aborts.
 */
export async function askOutcome(
  service: Pick<JobService, 'getSubmission'>,
  { id, account }: Pick<JobRecord, 'id' | 'account'>,
  {
    signal,
    retryDelaysMs = RETRY_DELAYS_MS,
  }: { readonly signal?: AbortSignal | undefined; readonly retryDelaysMs?: readonly number[] } = {},
): Promise<Outcome> {
  const options = { timeout: TIMEOUT, ...(signal !== undefined && { signal }) };
  for (let failures = 0; ; ) {
    let delay: number | undefined = CHECK_EVERY_MS;
    try {
      const status = await service.getSubmission(id, options);
      if (status === undefined || (account ?? status.account_id ?? null) !== (status.account_id ?? account)) break;
      if (status.state === 'accepted') return { type: 'accepted', created: status };
      if (status.state === 'incomplete') return { type: 'not-taken', receivedBytes: status.received_bytes };
      failures = 0;
    } catch (error) {
      const http = httpStatus(error);
      const isPassing = http === undefined || http === 429 || http >= 500;
      delay = isPassing ? retryDelaysMs[failures++] : undefined;
    }
    if (delay === undefined || signal?.aborted === true) break;
    await sleep(delay, undefined, options).catch(() => {});
  }
  return { type: 'unknown' };
}

/** The changes to the record of a job that was accepted. */
export function acceptedPatch({ job_id: jobId, credit_hold: creditHold }: JobCreated) {
  return { jobId, state: 'queued', reason: null, creditHold: creditHold ?? null, finishedAt: null };
}

/**
 * Finds out what became of an earlier submission in state `unknown`, and records it: it is a job that can be followed, it did not arrive
 * and has failed, or it remains unknown. Nothing is sent again.
 *
 * @returns the current record.
 */
export async function settleEarlier(
  { service, ledger }: { service: Pick<JobService, 'getSubmission'>; ledger: Pick<AsyncLedger, 'update'> },
  record: JobRecord,
  { signal, now = Date.now() }: { readonly signal?: AbortSignal; readonly now?: number } = {},
): Promise<JobRecord> {
  const outcome = await askOutcome(service, record, { retryDelaysMs: [], ...(signal !== undefined && { signal }) });
  switch (outcome.type) {
    case 'accepted':
      return ledger.update(record.id, acceptedPatch(outcome.created));
    case 'not-taken': {
      if (now - Date.parse(record.createdAt) > ABSENCE_COUNTS_MS) return record;
      const finishedAt = new Date(now).toISOString();
      return ledger.update(record.id, { state: 'failed', reason: didNotArrive(record), finishedAt });
    }
    case 'unknown':
      return record;
    default:
      return assertNever(outcome);
  }
}
