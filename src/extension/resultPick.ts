import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { formatCount } from '../core/format.ts';
import { plainText } from '../core/terminalText.ts';
import type { PlannedResult, ResultDecision } from '../workspace/results.ts';
import { pickMany } from './picks.ts';
import { decisionsFor, type ResultRow, resultRows, toggled } from './resultRows.ts';

interface ResultItem extends vscode.QuickPickItem {
  row: ResultRow;
}

const COMPARE = 'Compare with the file here';
const SWITCH = 'Switch between overwriting and keeping both';

/** Shows the results plan and asks which files are written. Undefined when the person stops: nothing is written then. */
export async function pickResults(
  plan: readonly PlannedResult[],
  place: { folder: string; staging: string; script: string },
): Promise<ReadonlyMap<string, ResultDecision> | undefined> {
  const same = plan.filter(({ status }) => status === 'same').length;
  const note = same === 0 ? '' : ` ${formatCount(same, 'other file')} are the same already.`;
  const chosen = await pickMany<ResultItem>({
    title: `Results of ${plainText(place.script)} into ${plainText(basename(place.folder))}`,
    placeholder: `Tick what is written.${note}`,
    items: resultRows(plan).map(itemOf),
    onButton: ({ button, item }, pick) => {
      if (button.tooltip === COMPARE) void compare(item.row.path, place);
      else {
        item.row = toggled(item.row);
        item.description = item.row.description;
        const ticked = pick.selectedItems;
        pick.items = [...pick.items];
        pick.selectedItems = ticked;
      }
    },
  });
  if (chosen === undefined || chosen === 'back') return undefined;
  return decisionsFor(
    plan,
    chosen.map(({ row }) => row),
  );
}

function itemOf(row: ResultRow): ResultItem {
  const buttons: vscode.QuickInputButton[] = [];
  if (row.canOverwrite) buttons.push({ iconPath: new vscode.ThemeIcon('arrow-swap'), tooltip: SWITCH });
  if (row.canCompare) buttons.push({ iconPath: new vscode.ThemeIcon('diff'), tooltip: COMPARE });
  return { row, label: plainText(row.path), description: row.description, picked: row.isTicked, buttons };
}

async function compare(path: string, { folder, staging }: { folder: string; staging: string }): Promise<void> {
  const [here, result] = [join(folder, path), join(staging, path)].map((file) => vscode.Uri.file(file));
  const options = { preview: true, preserveFocus: true } satisfies vscode.TextDocumentShowOptions;
  await vscode.commands.executeCommand('vscode.diff', here, result, `${basename(path)}: here and result`, options);
}
