import { formatInteger } from '../../core/text/format.ts';
import * as l10n from '@vscode/l10n';
import { shownScript } from '../../jobs/selection/script.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/describe.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Services } from '../services/services.ts';

/** Says that jobs could not be cancelled. */
export function cancelFailures(failed: number, all: number): string {
  return l10n.t('{0} of {1} jobs could not be cancelled.', formatInteger(failed), formatInteger(all));
}

/**
 * Stops a job.
 *
 * @throws AppError `conflict` if it has ended or has no ID yet; the service's own errors.
 */
export async function cancelJob(services: Services, record: JobRecord): Promise<void> {
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
  await services.hosts.cancel(record.host, record.jobId);
  services.log.info('job cancelled', { id: record.id });
  await services.store.refresh();
}
