import { assertNever } from '../../core/errors.ts';
import { classifyFailure, isFinal } from '../../core/network/classifyFailure.ts';
import { type Backoff, backoffMs, delay, retry } from '../../core/retry.ts';
import type { JobCreated } from '../../remote/protocol/schemas.ts';
import type { JobService } from '../service/api.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { didNotArrive } from '../service/outcome.ts';
import type { JobRecord } from '../ledger/record.ts';

// Long enough for a service that is restarting, or a network that comes back.
const BACKOFF = { firstMs: 250, retries: 6 };
/** Asks a single time. */
export const ONCE: Backoff = { firstMs: 0, retries: 0 };
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
  { signal, backoff = BACKOFF }: { readonly signal?: AbortSignal | undefined; readonly backoff?: Backoff } = {},
): Promise<Outcome> {
  const request = { timeout: TIMEOUT, ...(signal !== undefined && { signal }) };
  const delayMs = (failures: number, error: unknown): number | undefined =>
    isFinal(classifyFailure(error)) ? undefined : backoffMs(failures, backoff);
  try {
    for (;;) {
      const status = await retry(() => service.getSubmission(id, request), { delayMs, signal });
      if (status === undefined || (account ?? status.account_id ?? null) !== (status.account_id ?? account)) break;
      if (status.state === 'accepted') return { type: 'accepted', created: status };
      if (status.state === 'incomplete') return { type: 'not-taken', receivedBytes: status.received_bytes };
      await delay(CHECK_EVERY_MS, signal);
    }
  } catch {
    // No response says what became of it, or nobody waits for one.
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
  const outcome = await askOutcome(service, record, { backoff: ONCE, ...(signal !== undefined && { signal }) });
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
