import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { textField } from '../../../core/jsonFields.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { type JobRecord, shortId } from '../../../jobs/ledger/record.ts';
import { jobRow } from './jobRow.ts';
import type { Command } from '../../contributions/commands.ts';
import { readJobArgument } from '../../contributions/jobArgument.ts';
import type { AsyncLedger } from '../../../jobs/ledger/asyncLedger.ts';
import type { JobNode } from '../store/jobNodes.ts';
import type { JobStore } from '../store/jobStore.ts';
import type { LostContacts } from '../store/lostContacts.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';

const selectionArgument = z.object({ selection: z.literal(true) });

/** What finds the jobs that a command is about. */
export interface JobFinder {
  readonly ledger: Pick<AsyncLedger, 'find'>;
  readonly lostContacts: Pick<LostContacts, 'get'>;
  readonly store: Pick<JobStore, 'isLoaded' | 'records' | 'refresh'>;
  /** The rows of the Jobs view that the pressed key concerns. */
  readonly keyRows: () => Promise<readonly JobNode[]>;
}

export interface JobQuestion {
  /** The title of the command, as in the manifest. */
  readonly title: string;
  /** Which jobs the user can pick, by default all, and the sentence for when there is none of them. */
  readonly only?: { fits(record: JobRecord): boolean; readonly none: string };
}

/** A command on one job: the one that the argument names, or one that the user picks. */
export function jobCommand(jobs: JobFinder, question: JobQuestion & { run(record: JobRecord): unknown }): Command {
  return async (argument) => {
    const record = await findOrPickJob(jobs, readJobArgument(argument), question);
    return record === undefined ? undefined : question.run(record);
  };
}

/** A command on one or more jobs: those selected in the list, the one that the argument names, or one that the user picks. */
export function jobsCommand(
  jobs: JobFinder,
  question: JobQuestion & { run(records: readonly JobRecord[]): unknown },
): Command {
  return async (argument, selected) => {
    const records = await findOrPickJobs(jobs, { argument, selected }, question);
    return records.length === 0 ? undefined : question.run(records);
  };
}

export interface JobArguments {
  /** The row on which the command was called, `{ selection: true }` for those that a key concerns, or another argument of `readJobArgument`. */
  readonly argument: unknown;
  /** All selected rows, if the row is one of them. */
  readonly selected: unknown;
}

/** The jobs of a command; empty if the user cancelled. @throws AppError `missing` as `findOrPickJob` does. */
export async function findOrPickJobs(
  jobs: JobFinder,
  { argument, selected }: JobArguments,
  question: JobQuestion,
): Promise<readonly JobRecord[]> {
  const isKey = selectionArgument.safeParse(argument).success;
  const rows: readonly unknown[] = isKey ? await jobs.keyRows() : Array.isArray(selected) ? selected : [];
  const ids = rows.map((row) => textField(row, 'id')).filter((id) => id !== undefined);
  if (isKey && ids.length === 0) return [];
  if (ids.length > 1 || isKey) return Promise.all(ids.map((id) => findJob(jobs, id)));
  const record = await findOrPickJob(jobs, readJobArgument(argument), question);
  return record === undefined ? [] : [record];
}

/**
 * The job with an ID, or the one that the user picks if there is no ID; undefined if the user cancelled.
 *
 * @throws AppError `missing` if the job is not in the list, or no job fits.
 */
export async function findOrPickJob(
  jobs: JobFinder,
  name: string | undefined,
  question: JobQuestion,
): Promise<JobRecord | undefined> {
  if (!jobs.store.isLoaded) await jobs.store.refresh();
  return name === undefined ? pickJob(jobs, question) : findJob(jobs, name);
}

async function findJob({ ledger }: JobFinder, name: string): Promise<JobRecord> {
  // Only complete IDs: a prefix from another extension could match a job that nobody chose.
  const record = (await ledger.find(name)).find(({ id, jobId }) => id === name || jobId === name);
  if (!record) throw new AppError('missing', l10n.t('Job {0} is not in the list.', printableLine(name)));
  return record;
}

async function pickJob(
  { store, lostContacts }: JobFinder,
  { title, only }: JobQuestion,
): Promise<JobRecord | undefined> {
  if (store.records.length === 0)
    throw new AppError('missing', l10n.t('{0}: the list has no jobs yet. Submit a folder first.', title));
  const fitting = store.records.filter((record) => only?.fits(record) ?? true);
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
  const item = await pickRow(items, {
    title,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return item?.record;
}
