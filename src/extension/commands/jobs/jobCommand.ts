import { AppError } from '../../../core/errors.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { type JobRecord, shortId } from '../../../jobs/ledger/record.ts';
import { jobRow } from '../../jobList/jobRow.ts';
import type { Services } from '../../services/services.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { type Command, type CommandContext, withArgument } from '../command.ts';

export interface JobQuestion {
  /** The title of the command, as in the manifest. */
  readonly title: string;
  /** Whether the list of jobs to choose from contains a job; by default it contains all. */
  fits?(record: JobRecord, services: Services): boolean;
}

/** A command on one job: the one that the argument names, or one that the user picks. */
export function jobCommand(
  question: JobQuestion & { run(context: CommandContext, record: JobRecord): unknown },
): Command {
  return withArgument(readJobArgument, async (context, name) => {
    const record = await findOrPickJob(context.services, name, question);
    return record === undefined ? undefined : question.run(context, record);
  });
}

/**
 * The job with an ID, or the one that the user picks if there is no ID; undefined if the user cancelled.
 *
 * @throws AppError `missing` if the job is not in the list, or no job fits.
 */
export async function findOrPickJob(
  services: Services,
  name: string | undefined,
  question: JobQuestion,
): Promise<JobRecord | undefined> {
  if (!services.store.isLoaded) await services.store.refresh();
  return name === undefined ? pickJob(services, question) : findJob(services, name);
}

async function findJob({ ledger }: Services, name: string): Promise<JobRecord> {
  // Only complete IDs: a prefix from another extension could match a job that nobody chose.
  const record = (await ledger.find(name)).find(({ id, jobId }) => id === name || jobId === name);
  if (!record) throw new AppError('missing', `Job ${printableLine(name)} is not in the list.`);
  return record;
}

async function pickJob(services: Services, question: JobQuestion): Promise<JobRecord | undefined> {
  const { store, lostContacts } = services;
  const fitting = store.records.filter((record) => question.fits?.(record, services) ?? true);
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
