import { basename, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { isOver, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { Commands } from '../command.ts';
import { jobCommand } from '../jobs/jobCommand.ts';
import { AppError } from '../../../core/errors.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { browseResults as fetchResults, takeResults } from '../../../jobs/browsing/browse.ts';
import { resultsFolderOf } from '../../../jobs/results/resultsFolder.ts';
import type { Services } from '../../services/services.ts';
import { PausableProgress } from '../../ui/pausableProgress.ts';
import { downloadDeps, reportPhase, saveInto } from '../../results/results.ts';

export const resultCommands = {
  'farwharf.browseResults': jobCommand({
    title: l10n.t('Browse Results'),
    only: { fits: isOver, none: l10n.t('No job has ended yet. The results of a job are available once it ends.') },
    run: ({ services }, record) => browseResults(services, record),
  }),
  'farwharf.saveResults': ({ services }, argument) => saveResults(services, argument),
  'farwharf.compareResult': ({ services }, argument) => compareResult(services, argument),
  'farwharf.closeResults': ({ services }) => services.resultsView.close(),
} satisfies Commands;

/** Shows the results of a job as a tree, without writing them into a folder. They are downloaded only the first time. */
async function browseResults(services: Services, record: JobRecord): Promise<void> {
  const { browsed, home, hosts, resultsView } = services;
  const progress = new PausableProgress(l10n.t('Results of {0}', record.script));
  try {
    const deps = { service: hosts.service(record.host), home, browsed };
    const summary = await fetchResults(deps, record, {
      signal: progress.signal,
      onPhase: (phase) => reportPhase(services, phase, progress),
    });
    progress.close();
    await resultsView.show(record, summary);
  } finally {
    progress.close();
  }
}

/** Saves the results that the argument names, or all that are shown, into the folder of the job. Returns the paths written. */
async function saveResults(services: Services, argument: unknown): Promise<readonly string[] | undefined> {
  const { browsed, resultsView } = services;
  const record = shown(services);
  const paths = resultsView.pathsOf(argument);
  return saveInto(services, record, {}, (options) =>
    takeResults({ ...downloadDeps(services, record), browsed }, record, paths, options),
  );
}

/** Compares a result with the file in the folder. */
async function compareResult(services: Services, argument: unknown): Promise<void> {
  const record = shown(services);
  const [path = ''] = services.resultsView.pathsOf(argument);
  if (path === '') throw new AppError('bad-input', l10n.t('Select a file in the Results view first.'));
  const result = services.resultDocuments.uriOf(record, path);
  const here = vscode.Uri.file(join(await resultsFolderOf(record), path));
  const title = l10n.t('{0}: your file and the result', printableLine(basename(path)));
  await vscode.commands.executeCommand('vscode.diff', here, result, title, { preview: true });
}

function shown({ resultsView: { record } }: Services): JobRecord {
  if (record !== undefined) return record;
  throw new AppError('missing', l10n.t('No results are shown. Select Browse Results on a job first.'));
}
