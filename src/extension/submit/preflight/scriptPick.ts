import * as vscode from 'vscode';
import type { SelectedFolder } from '../../../jobs/selection/selectedFolder.ts';
import { quotePath } from '../../../jobs/selection/scriptSuggestions.ts';
import { pickOne } from '../../ui/picks.ts';
import { type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface ScriptItem extends PickItem {
  readonly line?: string;
}

/** Asks for the script: a recent command line, a script in the folder, or any typed command line. */
export async function pickScript(
  { recent, found }: SelectedFolder['scripts'],
  options: { folderName: string; hasBack: boolean },
): Promise<string | undefined> {
  const item = (line: string, icon: string): ScriptItem => ({ label: label`$(${icon}) ${line}`, line });
  const separator = (label: string): ScriptItem => ({
    label: withoutIcons(label),
    kind: vscode.QuickPickItemKind.Separator,
  });
  const items: ScriptItem[] = [];
  if (recent.length > 0) items.push(separator('recent'), ...recent.map((line) => item(line, 'history')));
  if (found.length > 0)
    items.push(separator('scripts in this folder'), ...found.map((path) => item(quotePath(path), 'file-code')));
  const chosen = await pickOne<ScriptItem>({
    title: `Submit ${options.folderName}: script`,
    placeholder: 'Select a script, or type one with its parameters: train.py --epochs 3',
    items,
    hasBack: options.hasBack,
    typed: (line) => ({
      label: label`$(terminal) ${line}`,
      description: label`run this command`,
      line,
      alwaysShow: true,
    }),
  });
  return chosen === 'back' ? chosen : chosen?.line;
}
