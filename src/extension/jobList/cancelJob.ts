import { shownScript } from '../../jobs/selection/script.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/describe.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Services } from '../services/services.ts';

/**
 * Stops a job.
 *
 * @throws AppError `conflict` if it has ended or has no ID yet; the service's own errors.
 */
export async function cancelJob(services: Services, record: JobRecord): Promise<void> {
  if (record.jobId === null)
    throw new AppError(
      'conflict',
      'The service has not returned a job ID yet, so this job cannot be cancelled. Try again in a moment.',
    );
  if (isOver(record))
    throw new AppError(
      'conflict',
      `${printableLine(shownScript(record.script))} has already ended: ${describeJob(record, Date.now())}.`,
    );
  await services.hosts.cancel(record.host, record.jobId);
  services.log.info('job cancelled', { id: record.id });
  await services.store.refresh();
}
