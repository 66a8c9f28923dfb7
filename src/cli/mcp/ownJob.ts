import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { isStale, patchFromJob } from '../../jobs/log/progress.ts';
import type { Job } from '../../remote/protocol/schemas.ts';
import type { Session } from '../session/session.ts';

/** A job that was sent from the folder of the tools, as the service reports it now. */
export interface OwnJob {
  readonly job: Job;
  readonly record: JobRecord & { readonly jobId: string };
}

/**
 * Finds a job by its ID, and updates its record.
 *
 * @param root the folder of the tools, without links.
 * @throws AppError `missing` for a job that was not sent from this folder, so that tools read nothing of other folders.
 */
export async function ownJob(session: Session, root: string, name: string, signal: AbortSignal): Promise<OwnJob> {
  const { jobId, record } = session.resolveJob(name);
  if (record === undefined || record.folder !== root) {
    throw new AppError('missing', `Job ${printableLine(name)} was not sent from the folder ${root} on this machine.`);
  }
  const job = await session.ask(name, (client) => client.getJob(jobId, { signal }));
  const patch = patchFromJob(job);
  const current = isStale(patch, record) ? record : session.ledger.update(record.id, patch);
  return { job, record: { ...current, jobId } };
}
