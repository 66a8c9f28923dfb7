import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { textField } from '../../../core/jsonFields.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { type JobRecord, shortId } from '../../../jobs/ledger/record.ts';
import { jobRow } from '../../jobs/list/jobRow.ts';
import type { Services } from '../../services/services.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { type Command, type CommandContext, withArgument } from '../command.ts';

const selectionArgument = z.object({ selection: z.literal(true) });

export interface JobQuestion {
  /** The title of the command, as in the manifest. */
  readonly title: string;
  /** Which jobs the user can pick, by default all, and the sentence for when there is none of them. */
  readonly only?: { fits(record: JobRecord, services: Services): boolean; readonly none: string };
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

/** A command on one or more jobs: those selected in the list, the one that the argument names, or one that the user picks. */
export function jobsCommand(
  question: JobQuestion & { run(context: CommandContext, records: readonly JobRecord[]): unknown },
): Command {
  return async (context, argument, selected) => {
    const records = await findOrPickJobs(context, { argument, selected }, question);
    return records.length === 0 ? undefined : question.run(context, records);
  };
}

interface JobArguments {
  /** The row on which the command was called, `{ selection: true }` for those that a key concerns, or another argument of `readJobArgument`. */
  readonly argument: unknown;
  /** All selected rows, if the row is one of them. */
  readonly selected: unknown;
}

/** The jobs of a command; empty if the user cancelled. @throws AppError `missing` as `findOrPickJob` does. */
export async function findOrPickJobs(
  context: CommandContext,
  { argument, selected }: JobArguments,
  question: JobQuestion,
): Promise<readonly JobRecord[]> {
  const isKey = selectionArgument.safeParse(argument).success;
  const rows: readonly unknown[] = isKey ? await context.keyRows() : Array.isArray(selected) ? selected : [];
  const ids = rows.map((row) => textField(row, 'id')).filter((id) => id !== undefined);
  if (isKey && ids.length === 0) return [];
  if (ids.length > 1 || isKey) return Promise.all(ids.map((id) => findJob(context.services, id)));
  const record = await findOrPickJob(context.services, readJobArgument(argument), question);
  return record === undefined ? [] : [record];
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
  if (!record) throw new AppError('missing', l10n.t('Job {0} is not in the list.', printableLine(name)));
  return record;
}

async function pickJob(services: Services, { title, only }: JobQuestion): Promise<JobRecord | undefined> {
  const { store, lostContacts } = services;
  if (store.records.length === 0)
    throw new AppError('missing', l10n.t('{0}: the list has no jobs yet. Submit a folder first.', title));
  const fitting = store.records.filter((record) => only?.fits(record, services) ?? true);
  if (fitting.length === 0 && only !== undefined) throw new AppError('missing', only.none);
  const items = fitting.map((record) => {
    const { description, icon, label: name } = jobRow(record, { now: Date.now(), lost: lostContacts.get(record.id) });
    return {
      label: label`$(${icon}) ${name}`,
      description: withoutIcons(description),
      detail: label`${l10n.t('{0} on {1}', shortId(record), hostLabel(record.host))}`,
      record,
    };
  });
  const chosen = await pickRow(items, {
    title,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.record;
}
