import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { formatBytes, formatDuration, formatInteger } from '../../core/text/format.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { hasSucceeded, type JobRecord, shortId } from '../../jobs/ledger/record.ts';
import type { FileChange } from '../../jobs/archives/fileChanges.ts';
import type { SubmittedDocuments } from './submittedDocuments.ts';
import type { Worker } from '../threads/worker.ts';
import { label } from '../ui/labels.ts';
import { pickRow, showCancellable, showInformation } from '../ui/show.ts';
import type { Command } from '../contributions/commands.ts';
import { type JobFinder, jobsCommand } from './list/jobCommand.ts';
import { AppError } from '../../core/errors.ts';

// An editor with more files takes seconds to open.
const MAX_SHOWN = 300;
const MAX_OFFERED = 50;

interface CompareDeps extends JobFinder {
  readonly submitted: Worker['submitted'];
  readonly submittedDocuments: SubmittedDocuments;
}

/** The files of a job, and what they are compared with. */
interface Comparison {
  readonly before: JobRecord;
  /** The folder as it is now if undefined. */
  readonly after: JobRecord | undefined;
}

/**
 * Compares the files that were submitted with a job with the folder as it is now or with those of another job, which the user picks, or
 * the files of two jobs with each other.
 */
export function compareSubmitted(deps: CompareDeps): Command {
  return jobsCommand(deps, {
    title: l10n.t('Compare Submitted Files'),
    async run(records) {
      const [before, after] = records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
      if (before === undefined) return;
      if (records.length > 2)
        throw new AppError(
          'bad-input',
          l10n.t('{0} jobs are selected. Select two to compare them, or one.', records.length),
        );
      const comparison = after === undefined ? await pickComparison(deps, before) : { before, after };
      if (comparison !== undefined) await compare(deps, comparison);
    },
  });
}

async function compare(deps: CompareDeps, comparison: Comparison): Promise<void> {
  const title = l10n.t('Comparing the files of {0}', comparison.before.script);
  const changes = await showCancellable(title, async (signal, progress) => {
    const onProgress = (doneBytes: number, totalBytes: number): void =>
      progress.report({ message: l10n.t('{0} of {1}', formatBytes(doneBytes), formatBytes(totalBytes)) });
    const found = await findChanges(deps, comparison, { signal, onProgress });
    await loadShown(deps, comparison, found.slice(0, MAX_SHOWN), signal);
    return found;
  });
  await showChanges(deps, comparison, changes);
}

/** Asks only if there is another job of the same folder. */
async function pickComparison({ store }: CompareDeps, record: JobRecord): Promise<Comparison | undefined> {
  const others = store.records
    .filter(({ id, folder }) => id !== record.id && folder === record.folder)
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
    .slice(0, MAX_OFFERED);
  const withFolder: Comparison = { before: record, after: undefined };
  if (others.length === 0) return withFolder;
  const success = others.find((each) => hasSucceeded(each) && each.createdAt < record.createdAt);
  const sorted = success === undefined ? others : [success, ...others.filter((each) => each !== success)];
  const rows = sorted.map((other) => jobRow(other, record, other === success));
  const folderRow = {
    label: label`$(folder) ${l10n.t('The folder as it is now')}`,
    description: label`${record.folder}`,
    detail: label``,
    comparison: withFolder,
  };
  const title = l10n.t('Compare the submitted files of {0} with', record.script);
  const options = { title, matchOnDescription: true, matchOnDetail: true };
  return (await pickRow([folderRow, ...rows], options))?.comparison;
}

function jobRow(other: JobRecord, record: JobRecord, isLastSuccess: boolean) {
  const now = Date.now();
  const ago = formatDuration((now - Date.parse(other.createdAt)) / 1000);
  const [before, after] = other.createdAt < record.createdAt ? [other, record] : [record, other];
  return {
    label: isLastSuccess ? label`$(pass) ${other.script}` : label`$(history) ${other.script}`,
    description: label`${l10n.t('{0} · submitted {1} ago', shortId(other), ago)}`,
    detail: isLastSuccess
      ? label`${l10n.t('The last job before this one that succeeded')}`
      : label`${describeJob(other, now)}`,
    comparison: { before, after },
  };
}

function findChanges(
  { submitted }: CompareDeps,
  { before, after }: Comparison,
  options: { readonly signal: AbortSignal; readonly onProgress: (doneBytes: number, totalBytes: number) => void },
): Promise<readonly FileChange[]> {
  if (after !== undefined) return submitted.changesBetween(before.id, after.id);
  return submitted.changesSince(before.id, before.folder, { isTrusted: vscode.workspace.isTrusted, ...options });
}

async function loadShown(
  { submittedDocuments }: CompareDeps,
  { before, after }: Comparison,
  shown: readonly FileChange[],
  signal: AbortSignal,
): Promise<void> {
  const pathsWithout = (type: FileChange['type']): string[] =>
    shown.filter((change) => change.type !== type).map(({ path }) => path);
  const wanted = new Map([[before, pathsWithout('added')]]);
  if (after !== undefined) wanted.set(after, pathsWithout('deleted'));
  await submittedDocuments.load(wanted, signal);
}

async function showChanges(
  { submittedDocuments }: CompareDeps,
  { before, after }: Comparison,
  changes: readonly FileChange[],
): Promise<void> {
  const [earlier, later] = [nameOf(before), after === undefined ? l10n.t('the folder') : nameOf(after)];
  if (changes.length === 0) {
    void showInformation(l10n.t('No file has changed from {0} to {1}.', earlier, later));
    return;
  }
  const rows = changes.slice(0, MAX_SHOWN).map(({ path, type }) => {
    const now =
      after === undefined ? vscode.Uri.file(join(before.folder, path)) : submittedDocuments.uriOf(after, path);
    const then = submittedDocuments.uriOf(before, path);
    return [now, type === 'added' ? undefined : then, type === 'deleted' ? undefined : now];
  });
  await vscode.commands.executeCommand('vscode.changes', `${earlier} → ${later}`, rows);
  if (changes.length > MAX_SHOWN) {
    void showInformation(
      l10n.t(
        '{0} files changed; the first {1} are shown. All of them: farwharf diff {2}',
        formatInteger(changes.length),
        MAX_SHOWN,
        shortId(before),
      ),
    );
  }
}

function nameOf(record: JobRecord): string {
  return printableLine(`${record.script} (${shortId(record)})`);
}
