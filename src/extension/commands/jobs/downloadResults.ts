import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { formatInteger } from '../../../core/text/format.ts';
import { isOver } from '../../../jobs/ledger/record.ts';
import { forEachJob } from '../../jobs/list/forEachJob.ts';
import { download } from '../../results/results.ts';
import { findOrPickJobs } from './jobCommand.ts';
import type { Command } from '../command.ts';

const QUESTION = {
  title: l10n.t('Download Results'),
  only: { fits: isOver, none: l10n.t('No job has ended yet. The results of a job are available once it ends.') },
};
const keepBothArgument = z.object({ keepBoth: z.literal(true) });

/** How many of several jobs could not be downloaded. */
export function downloadFailures(failed: number, all: number): string {
  return l10n.t('{0} of {1} jobs could not be downloaded.', formatInteger(failed), formatInteger(all));
}

/** Returns the paths written for one job, or undefined if the user cancelled. */
export const downloadResults: Command = async (context, argument, selected) => {
  const keepBoth = keepBothArgument.safeParse(argument).success;
  const records = await findOrPickJobs(context, { argument, selected }, QUESTION);
  const written: string[] = [];
  let isCancelled = records.length === 0;
  await forEachJob(records, downloadFailures, async (record) => {
    const paths = await download(context.services, record, { keepBoth });
    if (paths === undefined) isCancelled = true;
    else for (const path of paths) written.push(path);
  });
  return isCancelled && written.length === 0 ? undefined : written;
};
