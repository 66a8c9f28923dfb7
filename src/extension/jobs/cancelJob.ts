import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { formatInteger, plural } from '../../core/text/format.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { isActive, isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Command } from '../contributions/commands.ts';
import { askModal } from '../ui/show.ts';
import { forEachJob } from './list/forEachJob.ts';
import { type JobFinder, jobsCommand } from './list/jobCommand.ts';
import type { JobStore } from './store/jobStore.ts';

export interface CancelDeps extends Pick<WindowParts, 'log'> {
  readonly hosts: Pick<Hosts, 'cancel'>;
  readonly store: Pick<JobStore, 'refresh'>;
}

/** Says that jobs could not be cancelled. */
function cancelFailures(failed: number, all: number): string {
  return l10n.t('{0} of {1} jobs could not be cancelled.', formatInteger(failed), formatInteger(all));
}

/** Cancels the jobs that it is about, several only once the user has confirmed it. */
export function cancelJobs(deps: CancelDeps & JobFinder): Command {
  return jobsCommand(deps, {
    title: l10n.t('Cancel Job'),
    only: { fits: isActive, none: l10n.t('No job is queued or running, so there is nothing to cancel.') },
    async run(records) {
      const [only] = records;
      if (only !== undefined && records.length === 1) return cancelJob(deps, only);
      const active = records.filter(isActive);
      const question = plural(active.length, l10n.t('Cancel 1 job?'), l10n.t('Cancel {0} jobs?'));
      const detail = l10n.t('You pay for the time that they ran. Their results so far can still be downloaded.');
      if (
        active.length > 0 &&
        (await askModal(question, { detail, isWarning: true }, l10n.t('Cancel Jobs'))) === undefined
      )
        return;
      await cancelEach(deps, active);
    },
  });
}

/** Stops jobs, one after the other. @throws as `forEachJob` does. */
export function cancelEach(deps: CancelDeps, records: readonly JobRecord[]): Promise<void> {
  return forEachJob(records, cancelFailures, (record) => cancelJob(deps, record));
}

/**
 * Stops a job.
 *
 * @throws AppError `conflict` if it has ended or has no ID yet; the service's own errors.
 */
export async function cancelJob({ hosts, store, log }: CancelDeps, record: JobRecord): Promise<void> {
  if (record.jobId === null)
    throw new AppError(
      'conflict',
      l10n.t('The service has not returned a job ID yet, so this job cannot be cancelled. Try again in a moment.'),
    );
  if (isOver(record))
    throw new AppError(
      'conflict',
      l10n.t('{0} has already ended: {1}.', printableLine(shownScript(record.script)), describeJob(record, Date.now())),
    );
  await hosts.cancel(record.host, record.jobId);
  log.info('job cancelled', { id: record.id });
  await store.refresh();
}
