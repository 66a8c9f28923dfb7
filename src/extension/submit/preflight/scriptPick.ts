import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../../core/files/pathInside.ts';
import type { SelectedFolder } from '../../../jobs/selection/selectedFolder.ts';
import type { StartedProgram } from '../../../jobs/selection/script.ts';
import { startedCommand } from '../../../jobs/plan/draft.ts';
import { quotePath } from '../../../jobs/selection/scriptSuggestions.ts';
import { pickOne } from '../../ui/picks.ts';
import { type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface ScriptItem extends PickItem {
  readonly line?: string;
  /** Whether to ask for a command. */
  readonly asksCommand?: true;
}

/**
 * Asks what runs: the open file, a recent script line, a script in the folder, any typed script line, or a command.
 *
 * @param options.askCommand asks for the command.
 */
export async function pickProgram(
  folder: Pick<SelectedFolder, 'root' | 'scripts'>,
  options: {
    readonly folderName: string;
    readonly hasBack: boolean;
    readonly askCommand: () => Promise<readonly string[] | 'back' | undefined>;
  },
): Promise<StartedProgram | 'back' | undefined> {
  for (;;) {
    const chosen = await pickScript(folder, options);
    if (chosen === undefined || chosen === 'back') return chosen;
    if (chosen.line !== undefined) return { script: chosen.line };
    const command = await options.askCommand();
    if (command !== 'back') return command && startedCommand(command);
  }
}

async function pickScript(
  { root, scripts: { recent, found } }: Pick<SelectedFolder, 'root' | 'scripts'>,
  options: { readonly folderName: string; readonly hasBack: boolean },
): Promise<ScriptItem | 'back' | undefined> {
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
  items.push(separator(l10n.t('any program')), {
    label: label`$(terminal) ${l10n.t('Run a command…')}`,
    description: label`${l10n.t('with its arguments, in place of a script')}`,
    asksCommand: true,
    alwaysShow: true,
  });
  return pickOne<ScriptItem>({
    title: l10n.t('Submit {0}: script', options.folderName),
    placeholder: l10n.t('Select a script, or type one with its parameters: train.py --epochs 3'),
    items,
    hasBack: options.hasBack,
    typed: (line) => ({
      label: label`$(terminal) ${line}`,
      description: label`${l10n.t('run this script')}`,
      line,
      alwaysShow: true,
    }),
  });
}

function openScript(root: string, found: readonly string[]): readonly string[] {
  const file = vscode.window.activeTextEditor?.document.uri.fsPath;
  const path = file === undefined ? undefined : pathInside(root, file);
  return path !== undefined && found.includes(path) ? [quotePath(path)] : [];
}
