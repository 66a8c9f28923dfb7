import { basename, extname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { formatBytes, formatInteger, plural } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type DownloadDeps, downloadResults } from '../../jobs/results/download.ts';
import {
  type CheckedFolder,
  type Decisions,
  defaultDecisions,
  type DownloadedResults,
  type DownloadOptions,
  type DownloadPhase,
} from '../../jobs/results/placeFiles.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { PlannedResult } from '../../workspace/results/results.ts';
import { diskFolders, requireTrust } from '../workspace/folders.ts';
import { pickResults } from './resultPick.ts';
import { needsDecision } from './resultRows.ts';
import type { Services } from '../services/services.ts';
import { PausableProgress } from '../ui/pausableProgress.ts';
import { pickRow, showDone, showProgress, showWarning } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';

const PICTURES = new Set(['.png', '.svg', '.jpg', '.jpeg', '.gif', '.webp']);

export interface DownloadArguments {
  /** Writes new files and keeps both versions of changed ones, without asking. */
  readonly keepBoth?: boolean;
}

/** Downloads a job's results into a folder of this window. Returns the paths written, or undefined if the user cancelled. */
export async function download(
  services: Services,
  record: JobRecord,
  { keepBoth = false }: DownloadArguments,
): Promise<readonly string[] | undefined> {
  return saveInto(services, record, { keepBoth }, (options) =>
    downloadResults(downloadDeps(services, record), record.id, options),
  );
}

/** Writes results of a job into a folder of this window, as `place` does. Returns the paths written, or undefined if the user cancelled. */
export async function saveInto(
  services: Services,
  record: JobRecord,
  { keepBoth }: { readonly keepBoth: boolean },
  place: (options: DownloadOptions) => Promise<DownloadedResults>,
): Promise<readonly string[] | undefined> {
  requireTrust();
  const target = await chooseTarget(record);
  if (target === undefined) return undefined;
  const folder = await target();
  let isStopped = false;
  const progress = new PausableProgress(l10n.t('Results of {0}', record.script));
  const decide = async (plan: readonly PlannedResult[], staging: string): Promise<Decisions | undefined> => {
    if (keepBoth || !needsDecision(plan)) return defaultDecisions(plan);
    progress.close();
    const decisions = await pickResults(plan, { folder, staging, script: record.script });
    isStopped = decisions === undefined;
    return decisions;
  };
  const onPhase = (phase: DownloadPhase): void => reportPhase(services, phase, progress);
  try {
    progress.report('');
    const results = await place({ folder: target, decide, signal: progress.signal, onPhase });
    await services.store.refresh();
    if (isStopped) return undefined;
    progress.close();
    await present(results);
    return results.written;
  } finally {
    progress.close();
  }
}

/**
 * Downloads a job's results into the folder that was submitted, with progress in the status bar, if all of them are new or the same as the
 * local files.
 *
 * @returns whether they were written; otherwise nothing has changed.
 */
export async function downloadNew(services: Services, record: JobRecord): Promise<boolean> {
  const isOpen = diskFolders().some(({ uri }) => uri.fsPath === record.folder);
  if (!isOpen || !vscode.workspace.isTrusted) return false;
  const options = { location: vscode.ProgressLocation.Window, title: l10n.t('Results of {0}', record.script) };
  const { written } = await showProgress(options, () =>
    downloadResults(downloadDeps(services, record), record.id, {
      folder: () => resultsFolderOf(record),
      decide: (plan) => (needsDecision(plan) ? undefined : defaultDecisions(plan)),
      signal: services.signal,
      onPhase: (phase) => reportPhase(services, phase),
    }),
  );
  await services.store.refresh();
  return written.length > 0;
}

/** What a download of this job needs. */
export function downloadDeps({ hosts, archiver, ledger, home }: Services, { host }: JobRecord): DownloadDeps {
  return { service: hosts.service(host), archiver, ledger, home, journals: new ResultJournals(home) };
}

/** The folder that was submitted, if it is open here; otherwise a folder of this window that the user picks. */
async function chooseTarget(record: JobRecord): Promise<CheckedFolder | undefined> {
  const folders = diskFolders();
  if (folders.some(({ uri }) => uri.fsPath === record.folder)) return () => resultsFolderOf(record);
  if (folders.length === 0)
    throw new AppError('no-folder', l10n.t('Results can only be saved into an open folder. Open one first.'));
  const items = folders.map(({ name, uri }) => ({
    label: label`$(folder) ${name}`,
    description: withoutIcons(uri.fsPath),
    path: uri.fsPath,
  }));
  const chosen = await pickRow(items, {
    title: l10n.t('Results of {0}', record.script),
    placeHolder: l10n.t('{0} is not open in this window. Select a folder for the results.', record.folder),
  });
  return chosen && (() => Promise.resolve(chosen.path));
}

/** Shows what a download does, and logs what should not be. */
export function reportPhase({ log }: Pick<Services, 'log'>, phase: DownloadPhase, progress?: PausableProgress): void {
  if (phase.type === 'whole') log.warn('all results are downloaded', { reason: phase.reason });
  progress?.report(phaseText(phase));
}

function phaseText(phase: DownloadPhase): string {
  switch (phase.type) {
    case 'download':
      return phase.totalBytes === undefined
        ? l10n.t('{0} received', formatBytes(phase.doneBytes))
        : l10n.t('{0} of {1} received', formatBytes(phase.doneBytes), formatBytes(phase.totalBytes));
    case 'unpack':
      return l10n.t('unpacked {0} of {1}', formatBytes(phase.doneBytes), formatBytes(phase.totalBytes));
    case 'decide':
      return plural(phase.plan.length, l10n.t('1 file to review'), l10n.t('{0} files to review'));
    case 'write':
      return l10n.t('writing');
    case 'whole':
      return l10n.t('downloading all of them; the log says why');
    default:
      return '';
  }
}

/**
 * Shows the results: the first new file in the explorer, a picture to the side. Says so if all were there before, and warns about
 * results that are not in place.
 */
async function present({ folder, plan, refused, setAside, written }: DownloadedResults): Promise<void> {
  const added = new Set(plan.filter(({ status }) => status === 'new').map(({ path }) => path));
  const hasNone = plan.length > 0 && plan.every(({ status }) => status === 'same');
  if (hasNone) showDone(l10n.t('Nothing new: {0} already has all the results', basename(folder)));
  const first = written.find((path) => added.has(path)) ?? written[0] ?? (hasNone ? plan[0]?.path : undefined);
  if (first !== undefined)
    await vscode.commands.executeCommand('revealInExplorer', vscode.Uri.file(join(folder, first)));
  const picture = written.find((path) => PICTURES.has(extname(path).toLowerCase()));
  if (picture !== undefined) {
    const { Active, Beside } = vscode.ViewColumn;
    const options = {
      // Beside an empty group, the picture would have half of the space.
      viewColumn: vscode.window.tabGroups.activeTabGroup.tabs.length === 0 ? Active : Beside,
      preserveFocus: true,
      preview: true,
    } satisfies vscode.TextDocumentShowOptions;
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(join(folder, picture)), options);
  }
  if (setAside.length > 0) {
    const where = join(folder, setAside[0]?.at.split('/').slice(0, 2).join('/') ?? '');
    void showWarning(
      setAside.length === 1
        ? l10n.t(
            '1 result could change how tools behave or what the next submit sends. Saved in {0} instead of in place.',
            where,
          )
        : l10n.t(
            '{1} results could change how tools behave or what the next submit sends. Saved in {0} instead of in place.',
            where,
            formatInteger(setAside.length),
          ),
    );
  }
  if (refused.length === 0) return;
  const names = refused
    .slice(0, 3)
    .map(({ path, reason }) => `${printableLine(path)} (${printableLine(reason)})`)
    .join(', ');
  void showWarning(
    refused.length === 1
      ? l10n.t('1 archive entry was not created: {0}.', names)
      : l10n.t('{1} archive entries were not created: {0}.', names, formatInteger(refused.length)),
  );
}
