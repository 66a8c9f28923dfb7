import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { plural } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { PlannedResult, ResultDecision } from '../../workspace/results/applyResults.ts';
import { pickMany } from '../ui/picks.ts';
import { allowedTicks, decisionsFor, type ResultRow, resultRows } from './resultRows.ts';
import { type PickItem } from '../ui/show.ts';
import { withoutIcons } from '../ui/labels.ts';

interface ResultItem extends PickItem {
  /** Missing for a heading. */
  readonly row?: ResultRow;
}

// Short, because VS Code shows it beside the first row instead of that row's description.
const APART = l10n.t('Select one at a time');
const COMPARE = l10n.t('Compare with your file');

/** Shows the plan for the results and asks which files to write. Undefined if the user cancels, and then nothing is written. */
export async function pickResults(
  plan: readonly PlannedResult[],
  place: { folder: string; staging: string; script: string },
): Promise<ReadonlyMap<string, ResultDecision> | undefined> {
  const same = plan.filter(({ status }) => status === 'same').length;
  const note = plural(
    same,
    l10n.t('1 other file is already the same.'),
    l10n.t('{0} other files are already the same.'),
  );
  const chosen = await pickMany<ResultItem>({
    title: l10n.t('Results of {0} into {1}', place.script, basename(place.folder)),
    placeholder: [l10n.t('Select the results to write.'), ...(same === 0 ? [] : [note])].join(' '),
    items: itemsOf(resultRows(plan)),
    limitTicks: allowedTicks,
    onButton: ({ item }) => void (item.row && compare(item.row, place)),
  });
  if (chosen === undefined || chosen === 'back') return undefined;
  return decisionsFor(
    plan,
    chosen.flatMap(({ row }) => row ?? []),
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
