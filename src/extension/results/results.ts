import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { AppError } from '../../core/errors.ts';
import { formatBytes, formatInteger, plural } from '../../core/text/format.ts';
import { type DownloadDeps, downloadResults } from '../../jobs/results/resultDownload.ts';
import {
  type CheckedFolder,
  type Decisions,
  defaultDecisions,
  keepBothDecisions,
  type DownloadedResults,
  type PlaceOptions,
  type DownloadPhase,
} from '../../jobs/results/placeFiles.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import { resultLimits } from '../../jobs/results/resultLimits.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { ArchiveLimits } from '../../workspace/extract/extract.ts';
import type { PlannedResult, ResultDecision } from '../../workspace/results/applyResults.ts';
import { readSetting } from '../contributions/config.ts';
import { diskFolders, requireTrust } from '../workspace/folders.ts';
import { presentResults } from './presentResults.ts';
import { allowedTicks, decisionsFor, needsDecision, type ResultRow, resultRows } from './resultRows.ts';
import type { Archiver } from '../../jobs/archives/archiver.ts';
import type { Hosts } from '../account/hosts.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import { PausableProgress } from '../ui/pausableProgress.ts';
import { type PickItem, pickRow, showProgress } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { printableLine } from '../../core/text/printable.ts';
import { pickMany } from '../ui/picks.ts';

// Short, because VS Code shows it beside the first row instead of that row's description.
const APART = l10n.t('Select one at a time');
const COMPARE = l10n.t('Compare with your file');

/** What downloading results uses. */
export interface ResultDeps extends Pick<WindowParts, 'home' | 'ledger' | 'log' | 'signal'> {
  readonly archiver: Archiver;
  readonly hosts: Pick<Hosts, 'service'>;
  readonly store: Pick<JobStore, 'refresh'>;
}

export interface SaveOptions {
  /** Writes new files and keeps both versions of changed ones, without asking. */
  readonly keepBoth?: boolean;
  /** Where they are written; by default the folder that was submitted, or one that the user picks. */
  readonly target?: CheckedFolder;
  /** Shows what was written; `presentResults` by default. */
  readonly present?: (results: DownloadedResults) => unknown;
}

interface ResultItem extends PickItem {
  /** Missing for a heading. */
  readonly row?: ResultRow;
}

/** How many of several jobs could not be downloaded. */
export function downloadFailures(failed: number, all: number): string {
  return l10n.t('{0} of {1} jobs could not be downloaded.', formatInteger(failed), formatInteger(all));
}

/** Downloads a job's results into a folder of this window. Returns the paths written, or undefined if the user cancelled. */
export async function download(
  deps: ResultDeps,
  record: JobRecord,
  saving: SaveOptions,
): Promise<readonly string[] | undefined> {
  return saveInto(deps, record, saving, (options) => downloadResults(downloadDeps(deps, record), record.id, options));
}

/** Writes results of a job into a folder of this window, as `place` does. Returns the paths written, or undefined if the user cancelled. */
export async function saveInto(
  deps: ResultDeps,
  record: JobRecord,
  { keepBoth = false, target: wanted, present = (results) => presentResults([results]) }: SaveOptions,
  place: (options: PlaceOptions) => Promise<DownloadedResults>,
): Promise<readonly string[] | undefined> {
  requireTrust();
  const target = wanted ?? (await chooseTarget(record));
  if (target === undefined) return undefined;
  const folder = await target();
  let isStopped = false;
  const progress = new PausableProgress(l10n.t('Results of {0}', record.script));
  const decide = async (plan: readonly PlannedResult[], staging: string): Promise<Decisions | undefined> => {
    if (keepBoth) return keepBothDecisions(plan);
    if (!needsDecision(plan)) return defaultDecisions(plan);
    progress.close();
    const decisions = await pickResults(plan, { folder, staging, script: record.script });
    isStopped = decisions === undefined;
    return decisions;
  };
  const onPhase = (phase: DownloadPhase): void => reportPhase(deps, phase, progress);
  try {
    progress.report('');
    const results = await place({ folder: target, decide, signal: progress.signal, onPhase });
    await deps.store.refresh();
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
export async function downloadNew(deps: ResultDeps, record: JobRecord): Promise<boolean> {
  const isOpen = diskFolders().some(({ uri }) => uri.fsPath === record.folder);
  if (!isOpen || !vscode.workspace.isTrusted) return false;
  const options = { location: vscode.ProgressLocation.Window, title: l10n.t('Results of {0}', record.script) };
  const { written } = await showProgress(options, () =>
    downloadResults(downloadDeps(deps, record), record.id, {
      folder: () => resultsFolderOf(record),
      decide: (plan) => (needsDecision(plan) ? undefined : defaultDecisions(plan)),
      signal: deps.signal,
      onPhase: (phase) => reportPhase(deps, phase),
    }),
  );
  await deps.store.refresh();
  return written.length > 0;
}

/** What a download of this job needs. */
export function downloadDeps({ hosts, archiver, ledger, home }: ResultDeps, { host }: JobRecord): DownloadDeps {
  return {
    service: hosts.service(host),
    archiver,
    ledger,
    home,
    limits: limitsOfSetting(),
    journals: new ResultJournals(home),
  };
}

/** How large results may be. */
export function limitsOfSetting(): ArchiveLimits {
  const raise = l10n.t('Raise the limit in the setting {0}.', 'farwharf.maxResultSize');
  return resultLimits(readSetting('maxResultSize'), raise);
}

/** The folder that was submitted, if it is open here; otherwise a folder of this window that the user picks. */
async function chooseTarget(record: JobRecord): Promise<CheckedFolder | undefined> {
  const folder = await chooseResultsRoot(record, record.script);
  if (folder === undefined) return undefined;
  return folder === record.folder ? () => resultsFolderOf(record) : () => Promise.resolve(folder);
}

/** The path of a folder that was submitted, if it is open here; otherwise that of a folder of this window that the user picks. */
export async function chooseResultsRoot(
  { folder }: Pick<JobRecord, 'folder'>,
  name: string,
): Promise<string | undefined> {
  const folders = diskFolders();
  if (folders.some(({ uri }) => uri.fsPath === folder)) return folder;
  if (folders.length === 0)
    throw new AppError('no-folder', l10n.t('Results can only be saved into an open folder. Open one first.'));
  const items = folders.map(({ name: folderName, uri }) => ({
    label: label`$(folder) ${folderName}`,
    description: withoutIcons(uri.fsPath),
    path: uri.fsPath,
  }));
  const item = await pickRow(items, {
    title: l10n.t('Results of {0}', name),
    placeHolder: l10n.t('{0} is not open in this window. Select a folder for the results.', folder),
  });
  return item?.path;
}

/** Shows what a download does, and logs what should not be. */
export function reportPhase({ log }: Pick<ResultDeps, 'log'>, phase: DownloadPhase, progress?: PausableProgress): void {
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

/** Shows the plan for the results and asks which files to write. Undefined if the user cancels, and then nothing is written. */
async function pickResults(
  plan: readonly PlannedResult[],
  place: { folder: string; staging: string; script: string },
): Promise<ReadonlyMap<string, ResultDecision> | undefined> {
  const same = plan.filter(({ status }) => status === 'same').length;
  const note = plural(
    same,
    l10n.t('1 other file is already the same.'),
    l10n.t('{0} other files are already the same.'),
  );
  const items = await pickMany<ResultItem>({
    title: l10n.t('Results of {0} into {1}', place.script, basename(place.folder)),
    placeholder: [l10n.t('Select the results to write.'), ...(same === 0 ? [] : [note])].join(' '),
    items: itemsOf(resultRows(plan)),
    limitTicks: allowedTicks,
    onButton: ({ item }) => void (item.row && compare(item.row, place)),
  });
  if (items === undefined || items === 'back') return undefined;
  return decisionsFor(
    plan,
    items.flatMap(({ row }) => row ?? []),
  );
}

function itemsOf(rows: readonly ResultRow[]): ResultItem[] {
  const [apart, others] = [rows.filter(({ isApart }) => isApart), rows.filter(({ isApart }) => !isApart)];
  if (apart.length === 0) return others.map(itemOf);
  const heading = { label: withoutIcons(APART), kind: vscode.QuickPickItemKind.Separator };
  return [...others.map(itemOf), heading, ...apart.map(itemOf)];
}

function itemOf(row: ResultRow): ResultItem {
  return {
    row,
    label: withoutIcons(row.path),
    description: withoutIcons(row.description),
    picked: row.isTicked,
    buttons: row.canCompare ? [{ iconPath: new vscode.ThemeIcon('diff'), tooltip: COMPARE }] : [],
  };
}

async function compare(row: ResultRow, { folder, staging }: { folder: string; staging: string }): Promise<void> {
  const result = vscode.Uri.file(join(staging, row.path));
  const here = row.isNew ? await nothing(staging) : vscode.Uri.file(join(folder, row.path));
  const name = printableLine(basename(row.path));
  const options = { preview: true, preserveFocus: true } satisfies vscode.TextDocumentShowOptions;
  await vscode.commands.executeCommand(
    'vscode.diff',
    here,
    result,
    l10n.t('{0}: your file and the result', name),
    options,
  );
}

/** An empty file to compare a new one with. It is removed with the staging folder. */
async function nothing(staging: string): Promise<vscode.Uri> {
  const file = join(dirname(staging), 'nothing');
  await writeFile(file, '');
  return vscode.Uri.file(file);
}
