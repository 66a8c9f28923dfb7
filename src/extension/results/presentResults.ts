import { basename, extname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatInteger } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { DownloadedResults } from '../../jobs/results/placeFiles.ts';
import { nameInJob } from './resultRows.ts';
import { showDone, showInformation, showWarning } from '../ui/show.ts';

const PICTURES = new Set(['.png', '.svg', '.jpg', '.jpeg', '.gif', '.webp']);
const MOST_NAMED = 3;

/**
 * Shows the results of jobs: the first new file in the explorer, a picture to the side. Reports if all of them existed before, and warns
 * about results that were set aside.
 */
export async function presentResults(all: readonly DownloadedResults[]): Promise<void> {
  const hasNone =
    all.some(({ plan }) => plan.length > 0) && all.every(({ plan }) => plan.every(({ status }) => status === 'same'));
  if (hasNone) showDone(l10n.t('Nothing new: {0} already has all the results', basename(all[0]?.folder ?? '')));
  const paths = all.flatMap((results) => results.written.map((path) => join(results.folder, path)));
  const first = all.map(firstNew).find((path) => path !== undefined) ?? paths[0] ?? (hasNone ? sameAs(all) : undefined);
  if (first !== undefined) await vscode.commands.executeCommand('revealInExplorer', vscode.Uri.file(first));
  const picture = paths.find((path) => PICTURES.has(extname(path).toLowerCase()));
  if (picture !== undefined) await showPicture(picture);
  informOfNames(all);
  warnOfSetAside(all);
  warnOfRefused(all);
}

function firstNew({ folder, plan, written }: DownloadedResults): string | undefined {
  const added = new Set(plan.filter(({ status }) => status === 'new').map(({ path }) => path));
  const found = written.find((path) => added.has(path));
  return found === undefined ? undefined : join(folder, found);
}

function sameAs([first]: readonly DownloadedResults[]): string | undefined {
  const path = first?.plan[0]?.path;
  return first === undefined || path === undefined ? undefined : join(first.folder, path);
}

async function showPicture(path: string): Promise<void> {
  const { Active, Beside } = vscode.ViewColumn;
  const options = {
    // Beside an empty group, the picture would have half of the space.
    viewColumn: vscode.window.tabGroups.activeTabGroup.tabs.length === 0 ? Active : Beside,
    preserveFocus: true,
    preview: true,
  } satisfies vscode.TextDocumentShowOptions;
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(path), options);
}

/** Shows which results got another name here, and which files of the user did because they were in the way. */
function informOfNames(all: readonly DownloadedResults[]): void {
  const names = all.flatMap(({ plan, written }) => {
    const isWritten = new Set(written);
    return plan.flatMap(({ path, name }) =>
      name !== undefined && isWritten.has(path) ? `${printableLine(path)} (${nameInJob(name)})` : [],
    );
  });
  const moved = all.flatMap((results) =>
    results.moved.map(({ path, to }) => l10n.t('{0} is now {1}', printableLine(path), printableLine(to))),
  );
  if (names.length > 0) void showInformation(l10n.t('Saved under a valid name: {0}', firstOf(names)));
  if (moved.length > 0) void showInformation(l10n.t('Moved out of the way: {0}', firstOf(moved)));
}

function warnOfSetAside(all: readonly DownloadedResults[]): void {
  const count = all.reduce((sum, { setAside }) => sum + setAside.length, 0);
  if (count === 0) return;
  const places = all.flatMap(({ folder, setAside: [first] }) =>
    first === undefined ? [] : join(folder, ...first.at.split('/').slice(0, 2)),
  );
  const where = firstOf(places);
  void showWarning(
    count === 1
      ? l10n.t(
          '1 result could change how tools behave or what the next submit sends. Saved in {0} instead of in place.',
          where,
        )
      : l10n.t(
          '{1} results could change how tools behave or what the next submit sends. Saved in {0} instead of in place.',
          where,
          formatInteger(count),
        ),
  );
}

function warnOfRefused(all: readonly DownloadedResults[]): void {
  const refused = all.flatMap((results) => results.refused);
  if (refused.length === 0) return;
  const names = firstOf(refused.map(({ path, reason }) => `${printableLine(path)} (${printableLine(reason)})`));
  void showWarning(
    refused.length === 1
      ? l10n.t('1 archive entry was not created: {0}.', names)
      : l10n.t('{1} archive entries were not created: {0}.', names, formatInteger(refused.length)),
  );
}

function firstOf(texts: readonly string[]): string {
  return [...texts.slice(0, MOST_NAMED), ...(texts.length > MOST_NAMED ? ['…'] : [])].join(', ');
}
