import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/describe.ts';
import { isActive, isOver, type JobRecord, shortId } from '../../jobs/ledger/record.ts';
import { jobRow } from './jobRow.ts';
import type { Services } from '../services/services.ts';
import { readJobArgument } from '../submit/submitArguments.ts';
import { hostLabel } from '../ui/words.ts';
import { askModal, pickRow } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';

/** Runs `work` on the job that the argument names, or that the user picks from those that fit. */
export async function withJob(
  services: Services,
  argument: unknown,
  question: { title: string; fits(record: JobRecord): boolean },
  work: (record: JobRecord) => unknown,
): Promise<unknown> {
  if (!services.store.isLoaded) await services.store.refresh();
  const name = readJobArgument(argument);
  const record = name === undefined ? await pickJob(services, question) : await findJob(services, name);
  return record === undefined ? undefined : work(record);
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
      'The service has not returned a job ID yet, so this job cannot be cancelled. Try again in a moment.',
    );
  if (isOver(record))
    throw new AppError(
      'conflict',
      `${printableLine(record.script)} has already ended: ${describeJob(record, Date.now())}.`,
    );
  await services.hosts.cancel(record.host, record.jobId);
  services.log.info('job cancelled', { id: record.id });
  await services.store.refresh();
}

/** Whether a job can be removed from the list: it has ended, or its service can no longer be asked. */
export function canRemove({ lostContacts }: Pick<Services, 'lostContacts'>, record: JobRecord): boolean {
  return !isActive(record) || lostContacts.get(record.id) !== undefined;
}

/**
 * Removes a job from the list. The service is not involved.
 *
 * @throws AppError `conflict` while it runs on a service that responds.
 */
export async function removeJob(services: Services, record: JobRecord): Promise<void> {
  if (!canRemove(services, record))
    throw new AppError(
      'conflict',
      `${printableLine(record.script)} is still running. Cancel it first, or wait until it ends.`,
    );
  if (isActive(record)) {
    const detail = `${hostLabel(record.host)} cannot be asked, so the job may still run there and cost credits.`;
    const answer = await askModal(`Remove ${record.script} from the list?`, { detail, isWarning: true }, 'Remove');
    if (answer === undefined) return;
  }
  await services.ledger.remove(record.id);
  await services.store.refresh();
}

/** The host of the job that the argument names; undefined if it names none. */
export function hostOfJob({ store }: Services, argument: unknown): string | undefined {
  const name = readJobArgument(argument);
  return name === undefined ? undefined : store.get(name)?.host;
}

async function findJob({ ledger }: Services, name: string): Promise<JobRecord> {
  // Only complete IDs: a prefix from another extension could match a job that nobody chose.
  const record = (await ledger.find(name)).find(({ id, jobId }) => id === name || jobId === name);
  if (!record) throw new AppError('missing', `Job ${printableLine(name)} is not in the list.`);
  return record;
}

async function pickJob(
  { store, lostContacts }: Services,
  question: { title: string; fits(record: JobRecord): boolean },
): Promise<JobRecord | undefined> {
  const fitting = store.records.filter((record) => question.fits(record));
  if (fitting.length === 0)
    throw new AppError('missing', `${question.title}: no job in the list is in a state for this.`);
  const items = fitting.map((record) => {
    const { description, icon, label: name } = jobRow(record, { now: Date.now(), lost: lostContacts.get(record.id) });
    return {
      label: label`$(${icon}) ${name}`,
      description: withoutIcons(description),
      detail: label`${shortId(record)} on ${hostLabel(record.host)}`,
      record,
    };
  });
  const chosen = await pickRow(items, {
    title: question.title,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.record;
}
