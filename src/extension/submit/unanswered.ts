import { settleEarlier } from '../../jobs/send/settle.ts';
import type { Logger } from '../../core/log.ts';
import { repeat } from '../../core/processes/repeat.ts';
import type { JobService } from '../../jobs/service/api.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';

interface SettlingDeps {
  readonly hosts: {
    isSignedOut(host: string): Promise<boolean>;
    service(host: string): Pick<JobService, 'getSubmission'>;
  };
  readonly ledger: Pick<AsyncLedger, 'list' | 'update' | 'settleAbandoned'>;
  readonly log: Pick<Logger, 'info'>;
  /** Whether a submission may be unanswered; if not, the ledger is not read. */
  readonly mayBeUnanswered: () => boolean;
  /** Called for each submission that turns out to have failed. */
  readonly onNotArrived: (record: JobRecord) => void;
}

const FIRST_PAUSE_MS = 60_000;
const LAST_PAUSE_MS = 3_600_000;

/**
 * Finds out what became of submissions whose responses were lost, in this window or an earlier one, including uploads of processes
 * that were killed: each becomes a job that is followed, or has failed. If a service cannot tell, its submission stays unknown.
 *
 * @param firstPauseMs how often the ledger is read. Services are queried as often at first, then less and less.
 */
export function keepSettling(
  { hosts, ledger, log, mayBeUnanswered, onNotArrived }: SettlingDeps,
  signal: AbortSignal,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<void> {
  let pause = firstPauseMs;
  let nextAt = 0;
  const settle = async (): Promise<void> => {
    if (!mayBeUnanswered()) return;
    const abandoned = await ledger.settleAbandoned();
    if (abandoned.length > 0 || performance.now() >= nextAt) {
      const unanswered = await ledger.list({ state: 'unknown' });
      for (const record of unanswered) {
        if (await hosts.isSignedOut(record.host)) continue;
        const deps = { service: hosts.service(record.host), ledger };
        const settled = await settleEarlier(deps, record, { signal });
        const { state, jobId } = settled;
        if (state !== record.state) log.info('an unanswered submission was settled', { id: record.id, jobId, state });
        if (state === 'failed') onNotArrived(settled);
      }
      pause = unanswered.length === 0 ? firstPauseMs : Math.min(LAST_PAUSE_MS, 2 * pause);
      nextAt = performance.now() + pause;
    }
  };
  // Any process may be killed during an upload at any time, and reading the ledger costs no request.
  return repeat(settle, firstPauseMs, signal);
}
