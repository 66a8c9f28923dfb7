import { basename } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { hasSucceeded, type JobRecord } from '../../jobs/ledger/record.ts';
import { lastLines } from '../../jobs/log/lastLines.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { missingPackages } from '../../jobs/failure/missingPackages.ts';
import { failureReference } from '../../jobs/source/failureReference.ts';
import { startedNotebook } from '../../jobs/selection/script.ts';
import type { SourceReference } from '../../jobs/source/sourceReference.ts';
import { SourceFiles } from '../../jobs/source/sourceFiles.ts';
import { readSetting } from '../contributions/config.ts';
import { isWorthNotifying, type WatchedJobs } from '../jobs/store/watchedJobs.ts';
import { showError } from '../ui/show.ts';
import type { SourceLines } from '../jobs/log/sourceLines.ts';
import { canInstall, installPackages, installTitle } from './installPackages.ts';

export interface FailureDeps extends Pick<WindowParts, 'home' | 'signal' | 'wasSubmittedHere'> {
  readonly watched: Pick<WatchedJobs, 'has'>;
  readonly sourceLines: SourceLines;
}

/** Shows a notification for failed jobs, as the settings ask. Jobs that succeeded or were cancelled only appear in the list. */
export async function notifyFailures(ended: readonly JobRecord[], deps: FailureDeps): Promise<void> {
  const mode = readSetting('notifyOnFailure');
  if (mode === 'never') return;
  for (const record of ended) {
    if (hasSucceeded(record) || record.state === 'cancelled') continue;
    if (mode === 'submittedHere' && !deps.wasSubmittedHere(record.id)) continue;
    if (!isWorthNotifying(record, deps.watched)) continue;
    await tellFailure(record, deps);
  }
}

async function tellFailure(record: JobRecord, { home, signal, sourceLines }: FailureDeps): Promise<void> {
  const lines = await lastLines(new EventSpool(home, record.id));
  const reference = await failureReference(lines, new SourceFiles(record), startedNotebook(record));
  const goTo = reference === undefined ? [] : [goToText(reference)];
  const [explain, showLog] = [l10n.t('Explain'), l10n.t('Show Log')];
  const missing = missingPackages(record, lines);
  const install = canInstall(record, missing) ? [installTitle(missing)] : [];
  const choice = await showError(
    `${shownScript(record.script)}: ${describeJob(record, Date.now())}`,
    ...install,
    ...goTo,
    explain,
    showLog,
  );
  if (missing !== undefined && choice === install[0]) return installPackages(record, missing);
  if (choice === explain) await vscode.commands.executeCommand('farwharf.explainFailure', record.id);
  if (choice === showLog) await vscode.commands.executeCommand('farwharf.showLog', record.id);
  if (choice === undefined || choice === showLog || choice === explain || reference === undefined) return;
  await sourceLines.open(record, reference, signal);
}

function goToText({ path, line, cell }: SourceReference): string {
  return cell === undefined
    ? l10n.t('Go to {0}:{1}', basename(path), line)
    : l10n.t('Go to Cell {1} of {0}', basename(path), cell);
}
