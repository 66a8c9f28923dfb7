import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../../core/files/pathInside.ts';
import type { SelectedFolder } from '../../../jobs/selection/selectedFolder.ts';
import { quotePath } from '../../../jobs/selection/scriptSuggestions.ts';
import { pickOne } from '../../ui/picks.ts';
import { type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface ScriptItem extends PickItem {
  readonly line?: string;
}

/** Asks for the script: the open file, a recent command line, a script in the folder, or any typed command line. */
export async function pickScript(
  { root, scripts: { recent, found } }: Pick<SelectedFolder, 'root' | 'scripts'>,
  options: { folderName: string; hasBack: boolean },
): Promise<string | undefined> {
  const item = (line: string, icon: string): ScriptItem => ({ label: label`$(${icon}) ${line}`, line });
  const separator = (label: string): ScriptItem => ({
    label: withoutIcons(label),
    kind: vscode.QuickPickItemKind.Separator,
  });
  const items: ScriptItem[] = [];
  const sections: readonly [string, string, readonly string[]][] = [
    [l10n.t('open in the editor'), 'file', openScript(root, found)],
    [l10n.t('recent'), 'history', recent],
    [l10n.t('scripts in this folder'), 'file-code', found.map(quotePath)],
  ];
  for (const [title, icon, lines] of sections)
    if (lines.length > 0) items.push(separator(title), ...lines.map((line) => item(line, icon)));
  const chosen = await pickOne<ScriptItem>({
    title: l10n.t('Submit {0}: script', options.folderName),
    placeholder: l10n.t('Select a script, or type one with its parameters: train.py --epochs 3'),
    items,
    hasBack: options.hasBack,
    typed: (line) => ({
      label: label`$(terminal) ${line}`,
      description: label`${l10n.t('run this command')}`,
      line,
      alwaysShow: true,
    }),
  });
  return chosen === 'back' ? chosen : chosen?.line;
}

function openScript(root: string, found: readonly string[]): readonly string[] {
  const file = vscode.window.activeTextEditor?.document.uri.fsPath;
  const path = file === undefined ? undefined : pathInside(root, file);
  return path !== undefined && found.includes(path) ? [quotePath(path)] : [];
}
