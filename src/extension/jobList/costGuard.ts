import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../../core/processes/repeat.ts';
import { formatCount, formatDuration } from '../../core/text/format.ts';
import { isActive, type JobRecord } from '../../jobs/ledger/record.ts';
import { budgetStates } from '../../jobs/submit/budgetCheck.ts';
import { findOverruns, type Overrun } from '../../jobs/costs/overruns.ts';
import { readSetting } from '../contributions/config.ts';
import { cancelJob } from './cancelJob.ts';
import { forEachJob } from './forEachJob.ts';
import type { Services } from '../services/services.ts';
import { reportError } from '../ui/report.ts';
import { showInformation, showWarning } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';

const EVERY_MS = 10_000;
const KEEP = 'Keep Running';
const CANCEL = 'Cancel Now';

/**
 * Cancels jobs of this window that have used up a hard budget or all credits, if the user chose that, and after a warning with which the
 * user can keep them running. Runs until the signal aborts.
 */
export function guardCosts(services: Services, signal: AbortSignal): Promise<void> {
  // The user is asked once about each job.
  const asked = new Set<string>();
  const check = async (): Promise<void> => {
    const seconds = readSetting('cancelOverBudget');
    if (seconds <= 0) return;
    const { memory, store } = services;
    const running = store.records.filter(isActive);
    for (const host of new Set(running.map((record) => record.host))) {
      for (const { reason, jobs } of await overrunsOf(services, host)) {
        const mine = jobs.filter(({ id }) => memory.wasSubmittedHere(id) && !asked.has(id));
        for (const { id } of mine) asked.add(id);
        if (mine.length === 0) continue;
        const overrun = { reason: `${reason} on ${hostLabel(host)}`, jobs: mine };
        warnAndCancel(services, overrun, seconds, signal).catch((error: unknown) => reportError(services.log, error));
      }
    }
  };
  const checkOrLog = (): Promise<void> =>
    check().catch((error: unknown) => services.log.warn('the costs of jobs could not be checked', { error }));
  return repeat(checkOrLog, EVERY_MS, signal);
}

async function overrunsOf({ account, home, ledger, store }: Services, host: string): Promise<readonly Overrun[]> {
  const now = Date.now();
  const running = store.records.filter((record) => isActive(record) && record.host === host);
  const { balance = null, asOf = '' } = account.last(host) ?? {};
  const reported = balance === null ? undefined : { balance, asOf };
  return findOverruns({ budgets: await budgetStates({ home, ledger }, host, now), reported, running, now });
}

async function warnAndCancel(
  services: Services,
  { reason, jobs }: Overrun,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const which = formatCount(jobs.length, 'running job', 'running jobs');
  const question = `${reason}. ${which} will be cancelled in ${formatDuration(seconds)}.`;
  const isKept = await isAnsweredWithKeep(question, seconds, signal);
  if (isKept || signal.aborted) return;
  const left = stillRunning(services, jobs);
  await forEachJob(left, 'cancelled', (record) => cancelJob(services, record));
  if (left.length > 0)
    void showInformation(`${reason}. ${formatCount(left.length, 'job was', 'jobs were')} cancelled.`);
}

/** Whether the user chose to keep the jobs before the time was over. A message that is only closed is no decision. */
async function isAnsweredWithKeep(question: string, seconds: number, signal: AbortSignal): Promise<boolean> {
  const over = sleep(1_000 * seconds, undefined, { signal }).catch(() => {});
  const answer = async (): Promise<string | void> => (await showWarning(question, KEEP, CANCEL)) ?? (await over);
  return (await Promise.race([answer(), over])) === KEEP;
}

function stillRunning({ store }: Services, jobs: readonly JobRecord[]): readonly JobRecord[] {
  return jobs.flatMap(({ id }) => store.get(id) ?? []).filter(isActive);
}
