import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { repeat } from '../../core/processes/repeat.ts';
import { formatDuration, formatInteger } from '../../core/text/format.ts';
import { isActive, type JobRecord } from '../../jobs/ledger/record.ts';
import { budgetStates } from '../../jobs/plan/budgetCheck.ts';
import { findOverruns, type Overrun } from '../../jobs/plan/balance.ts';
import { readSetting } from '../contributions/config.ts';
import { cancelEach, type CancelDeps } from './cancelJob.ts';
import type { AccountMonitor } from '../account/account.ts';
import type { JobStore } from './store/jobStore.ts';
import { reportError } from '../ui/report.ts';
import { showInformation, showWarning } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';

const EVERY_MS = 10_000;
const KEEP = l10n.t('Keep Running');
const CANCEL = l10n.t('Cancel Now');

interface CostDeps extends Pick<WindowParts, 'home' | 'ledger' | 'wasSubmittedHere'>, CancelDeps {
  readonly account: Pick<AccountMonitor, 'last'>;
  readonly store: JobStore;
}

/**
 * Cancels jobs of this window that have used up a hard budget or all credits, if the user chose that, and after a warning with which the
 * user can keep them running. Runs until the signal aborts.
 */
export function guardCosts(deps: CostDeps, signal: AbortSignal): Promise<void> {
  // The user is asked once about each job.
  const warnedJobs = new Set<string>();
  const check = async (): Promise<void> => {
    const seconds = readSetting('cancelOverBudget');
    if (seconds <= 0) return;
    const { store, wasSubmittedHere } = deps;
    const running = store.records.filter(isActive);
    for (const host of new Set(running.map((record) => record.host))) {
      for (const { reason, jobs } of await overrunsOf(deps, host)) {
        const mine = jobs.filter(({ id }) => wasSubmittedHere(id) && !warnedJobs.has(id));
        for (const { id } of mine) warnedJobs.add(id);
        if (mine.length === 0) continue;
        const overrun = { reason: l10n.t('{0} on {1}', reason, hostLabel(host)), jobs: mine };
        warnAndCancel(deps, overrun, seconds, signal).catch((error: unknown) => reportError(deps.log, error));
      }
    }
  };
  const checkOrLog = (): Promise<void> =>
    check().catch((error: unknown) => deps.log.warn('the costs of jobs could not be checked', { error }));
  return repeat(checkOrLog, EVERY_MS, signal);
}

async function overrunsOf({ account, home, ledger, store }: CostDeps, host: string): Promise<readonly Overrun[]> {
  const now = Date.now();
  const running = store.records.filter((record) => isActive(record) && record.host === host);
  const { balance = null, asOf = '' } = account.last(host) ?? {};
  const reported = balance === null ? undefined : { balance, asOf };
  return findOverruns({ budgets: await budgetStates({ home, ledger }, host, now), reported, running, now });
}

async function warnAndCancel(
  deps: CostDeps,
  { reason, jobs }: Overrun,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const time = formatDuration(seconds);
  const question =
    jobs.length === 1
      ? l10n.t('{0}. 1 running job will be cancelled in {1}.', reason, time)
      : l10n.t('{0}. {2} running jobs will be cancelled in {1}.', reason, time, formatInteger(jobs.length));
  const isKept = await isAnsweredWithKeep(question, seconds, signal);
  if (isKept || signal.aborted) return;
  const left = stillRunning(deps, jobs);
  await cancelEach(deps, left);
  if (left.length > 0)
    void showInformation(
      left.length === 1
        ? l10n.t('{0}. 1 job was cancelled.', reason)
        : l10n.t('{0}. {1} jobs were cancelled.', reason, formatInteger(left.length)),
    );
}

/** Whether the user chose to keep the jobs before the time was over. A message that is only closed is no decision. */
async function isAnsweredWithKeep(question: string, seconds: number, signal: AbortSignal): Promise<boolean> {
  const over = sleep(1_000 * seconds, undefined, { signal }).catch(() => {});
  const answer = async (): Promise<string | void> => (await showWarning(question, KEEP, CANCEL)) ?? (await over);
  return (await Promise.race([answer(), over])) === KEEP;
}

function stillRunning({ store }: CostDeps, jobs: readonly JobRecord[]): readonly JobRecord[] {
  return jobs.flatMap(({ id }) => store.get(id) ?? []).filter(isActive);
}
