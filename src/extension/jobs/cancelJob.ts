import * as l10n from '@vscode/l10n';
import { formatInteger } from '../../core/text/format.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Logger } from '../../core/log.ts';
import type { Hosts } from '../account/hosts.ts';
import type { JobStore } from './store/jobStore.ts';

export interface CancelDeps {
  readonly hosts: Pick<Hosts, 'cancel'>;
  readonly store: Pick<JobStore, 'refresh'>;
  readonly log: Logger;
}

/** Says that jobs could not be cancelled. */
export function cancelFailures(failed: number, all: number): string {
  return l10n.t('{0} of {1} jobs could not be cancelled.', formatInteger(failed), formatInteger(all));
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
