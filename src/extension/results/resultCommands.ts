import { basename, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Commands } from '../contributions/commands.ts';
import type { JobFileSystem } from '../jobs/jobFileSystem.ts';
import { forEachJob } from '../jobs/list/forEachJob.ts';
import {
  findOrPickJobs,
  type JobArguments,
  jobCommand,
  type JobFinder,
  type JobQuestion,
} from '../jobs/list/jobCommand.ts';
import type { Worker } from '../threads/worker.ts';
import type { ResultsView } from './resultsView.ts';
import { formatBytes, plural } from '../../core/text/format.ts';
import type { ResultSummary } from '../../jobs/results/browsedResults.ts';
import type { ShownFiles } from './shownFiles.ts';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { browseResults as fetchResults, takeResults } from '../../jobs/results/browse.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import { PausableProgress } from '../ui/pausableProgress.ts';
import { download, downloadDeps, downloadFailures, reportPhase, type ResultDeps, saveInto } from './results.ts';

const keepBothArgument = z.object({ keepBoth: z.literal(true) });

interface ResultCommandDeps extends ResultDeps {
  readonly browsed: Worker['browsed'];
  readonly jobs: JobFinder;
  readonly resultDocuments: JobFileSystem;
  readonly resultsView: ResultsView;
}

export function resultCommands(deps: ResultCommandDeps): Commands<'results'> {
  const only = {
    fits: isOver,
    none: l10n.t('No job has ended yet. The results of a job are available once it ends.'),
  };
  return {
    'farwharf.downloadResults': (argument, selected) =>
      downloadOf(deps, { argument, selected }, { title: l10n.t('Download Results'), only }),
    'farwharf.browseResults': jobCommand(deps.jobs, {
      title: l10n.t('Browse Results'),
      only,
      run: (record) => browseResults(deps, record),
    }),
    'farwharf.saveResults': () => saveResults(deps, ['']),
    'farwharf.saveResult': (argument) => saveResults(deps, pathsOfRow(deps, argument)),
    'farwharf.compareResult': (argument) => compareResult(deps, argument),
    'farwharf.closeResults': () => deps.resultsView.close(),
  };
}

/** Downloads the results of jobs. Returns the paths written, or undefined if the user cancelled. */
async function downloadOf(
  deps: ResultCommandDeps,
  named: JobArguments,
  question: JobQuestion,
): Promise<readonly string[] | undefined> {
  const keepBoth = keepBothArgument.safeParse(named.argument).success;
  const records = await findOrPickJobs(deps.jobs, named, question);
  const writtenPaths: string[] = [];
  let isCancelled = records.length === 0;
  await forEachJob(records, downloadFailures, async (record) => {
    const paths = await download(deps, record, { keepBoth });
    if (paths === undefined) isCancelled = true;
    else for (const path of paths) writtenPaths.push(path);
  });
  return isCancelled && writtenPaths.length === 0 ? undefined : writtenPaths;
}

/** Shows the results of a job as a tree, without writing them into a folder. They are downloaded only the first time. */
async function browseResults(deps: ResultCommandDeps, record: JobRecord): Promise<void> {
  const { browsed, home, hosts, resultsView } = deps;
  const progress = new PausableProgress(l10n.t('Results of {0}', record.script));
  try {
    const fetching = { service: hosts.service(record.host), home, browsed };
    const summary = await fetchResults(fetching, record, {
      signal: progress.signal,
      onPhase: (phase) => reportPhase(deps, phase, progress),
    });
    progress.close();
    await resultsView.show(storedResults(deps, record, summary));
  } finally {
    progress.close();
  }
}

/** The results of a job that are in the cache. */
function storedResults(deps: ResultCommandDeps, record: JobRecord, { files, bytes }: ResultSummary): ShownFiles {
  return {
    record,
    title: l10n.t('Results'),
    message:
      files === 0
        ? l10n.t('This job made no files.')
        : l10n.t(
            '{0}, {1}. Save to Folder copies them into your folder.',
            plural(files, l10n.t('1 file'), l10n.t('{0} files')),
            formatBytes(bytes),
          ),
    level: (folder) => deps.browsed.level(record.id, folder),
    take: (paths, options) =>
      takeResults({ ...downloadDeps(deps, record), browsed: deps.browsed }, record, paths, options),
    refreshMs: undefined,
    [Symbol.dispose]: () => {},
  };
}

/** Saves files into the folder of the job. Returns the paths written. */
async function saveResults(deps: ResultCommandDeps, paths: readonly string[]): Promise<readonly string[] | undefined> {
  const files = shown(deps);
  return saveInto(deps, files.record, {}, (options) => files.take(paths, options));
}

function pathsOfRow({ resultsView }: ResultCommandDeps, row: unknown): readonly [string, ...string[]] {
  const [path, ...others] = resultsView.pathsOf(row);
  if (path !== undefined) return [path, ...others];
  throw new AppError('bad-input', l10n.t('Select a file in the Results view first.'));
}

/** Compares a result with the file in the folder. */
async function compareResult(deps: ResultCommandDeps, argument: unknown): Promise<void> {
  const { record } = shown(deps);
  const [path] = pathsOfRow(deps, argument);
  const result = deps.resultDocuments.uriOf(record, path);
  const here = vscode.Uri.file(join(await resultsFolderOf(record), path));
  const title = l10n.t('{0}: your file and the result', printableLine(basename(path)));
  await vscode.commands.executeCommand('vscode.diff', here, result, title, { preview: true });
}

function shown({ resultsView: { files } }: ResultCommandDeps): ShownFiles {
  if (files !== undefined) return files;
  throw new AppError('missing', l10n.t('No results are shown. Select Browse Results on a job first.'));
}
