import * as vscode from 'vscode';
import type { SelectedFile } from '../../../workspace/select/selection.ts';
import { pickOne } from '../../ui/picks.ts';
import { quotePath, suggestScripts } from './scripts.ts';
import { type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface ScriptItem extends PickItem {
  readonly line?: string;
}

/** Asks what to run: a command line used before, a script of the folder, or any other one that is typed, with its parameters. */
export async function pickScript(
  files: readonly SelectedFile[],
  options: { recent: readonly string[]; folderName: string; hasBack: boolean },
): Promise<{ readonly script: string } | 'back' | undefined> {
  const { recent, found } = suggestScripts(files, options.recent);
  const item = (line: string, icon: string): ScriptItem => ({ label: label`$(${icon}) ${line}`, line });
  const separator = (label: string): ScriptItem => ({
    label: withoutIcons(label),
    kind: vscode.QuickPickItemKind.Separator,
  });
  const items: ScriptItem[] = [];
  if (recent.length > 0) items.push(separator('used before'), ...recent.map((line) => item(line, 'history')));
  if (found.length > 0)
    items.push(separator('scripts of the folder'), ...found.map((path) => item(quotePath(path), 'file-code')));
  const chosen = await pickOne<ScriptItem>({
    title: `Submit ${options.folderName}: what to run`,
    placeholder: 'Choose a script, or type one with its parameters: train.py --epochs 3',
    items,
    hasBack: options.hasBack,
    typed: (line) => ({ label: label`$(terminal) ${line}`, description: label`run this`, line, alwaysShow: true }),
  });
  if (chosen === 'back') return 'back';
  return chosen?.line === undefined ? undefined : { script: chosen.line };
}
