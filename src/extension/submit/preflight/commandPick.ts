import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { TreeLevel } from '../../../jobs/selection/fileTree.ts';
import { readCommandLine, writeCommandLine } from '../../../jobs/selection/commandLine.ts';
import { label, messageText, withoutIcons } from '../../ui/labels.ts';
import { acceptedRow, createPick, type PickItem } from '../../ui/show.ts';

const MAX_COMPLETIONS = 20;
/** A path without quotes at the end of the line, which names a folder and the beginning of a name. */
const LAST_WORD = /(?:^|\s)((?:[^\s'"\\]*\/)?)([^\s'"\\/]*)$/;

interface CommandItem extends PickItem {
  readonly words?: readonly string[];
  /** The line with a completed path. */
  readonly completed?: string;
}

/** The folder whose files a command can name. */
interface CommandFolder {
  readonly name: string;
  /** The commands that it ran lately, the newest first. */
  readonly history: readonly (readonly string[])[];
  readonly listLevel: (folder: string) => Promise<TreeLevel>;
}

/** Asks for a command: a recent one, or a typed one, whose paths are completed. Undefined for Escape. */
export function pickCommand({
  name,
  history,
  listLevel,
}: CommandFolder): Promise<readonly string[] | 'back' | undefined> {
  const pick = createPick<CommandItem>();
  pick.title = messageText(l10n.t('Submit {0}: command', name));
  pick.placeholder = messageText(l10n.t('Type a program and its arguments, which run without a shell: make -j4 all'));
  pick.ignoreFocusOut = true;
  pick.buttons = [vscode.QuickInputButtons.Back];
  const recent = history.map(
    (words): CommandItem => ({
      label: label`$(history) ${writeCommandLine(words)}`,
      description: label`${l10n.t('recent')}`,
      words,
    }),
  );
  const show = async (): Promise<void> => {
    const line = pick.value;
    const typed = line.trim() === '' ? [] : [typedRow(line)];
    pick.items = [...typed, ...recent];
    const completions = await completionsOf(line, listLevel);
    // Something else may have been typed since.
    if (pick.value === line && completions.length > 0) pick.items = [...typed, ...completions, ...recent];
  };
  return new Promise((resolve) => {
    pick.onDidChangeValue(() => void show());
    pick.onDidAccept(() => {
      const { words, completed } = acceptedRow(pick) ?? {};
      if (completed !== undefined) {
        pick.value = completed;
        void show();
      }
      if (words === undefined) return;
      resolve(words);
      pick.hide();
    });
    pick.onDidTriggerButton(() => {
      resolve('back');
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    void show();
    pick.show();
  });
}

function typedRow(line: string): CommandItem {
  const read = readCommandLine(line);
  if (!read.ok) return { label: label`$(warning) ${line}`, detail: withoutIcons(read.reason), alwaysShow: true };
  const { words } = read;
  return {
    label: label`$(terminal) ${line}`,
    description: label`${l10n.t('run this command')}`,
    words,
    alwaysShow: true,
  };
}

/** The files of the folder that the last word may mean. */
async function completionsOf(line: string, listLevel: CommandFolder['listLevel']): Promise<readonly CommandItem[]> {
  const [, folder = '', start = ''] = LAST_WORD.exec(line) ?? [];
  if (line.trim() === '' || (folder === '' && start === '')) return [];
  const { entries } = await listLevel(folder.replace(/^\.\//, '').replace(/\/$/, ''));
  const before = line.slice(0, line.length - start.length);
  return entries
    .filter((entry) => entry.name.startsWith(start) && entry.name !== start)
    .slice(0, MAX_COMPLETIONS)
    .map(({ name, isFolder, exclusion }) => ({
      label: label`$(${isFolder ? 'folder' : 'file'}) ${folder}${name}`,
      description: label`${exclusion === undefined ? l10n.t('complete the path') : l10n.t('left out')}`,
      alwaysShow: true,
      completed: `${before}${/[\s'"\\]/.test(name) ? name.replaceAll(/[\s'"\\]/g, '\\$&') : name}${isFolder ? '/' : ' '}`,
    }));
}
