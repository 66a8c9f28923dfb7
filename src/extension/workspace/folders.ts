import { dirname } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { label } from '../ui/labels.ts';
import { pickOne } from '../ui/picks.ts';
import { folderToSubmit, onDisk, type WantedFolder } from './folderToSubmit.ts';

/** @throws AppError `untrusted` in Restricted Mode. Every entry point that sends, runs or writes calls this, whatever menus show. */
export function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new AppError(
    'untrusted',
    l10n.t('In Restricted Mode, Farwharf does not send, run or write anything. Trust this folder first.'),
  );
}

/** Folders of this window on a local disk. */
export function diskFolders(): readonly vscode.WorkspaceFolder[] {
  return onDisk(vscode.workspace.workspaceFolders ?? []);
}

/**
 * The folder that `folderToSubmit` finds, or the one that the user picks.
 *
 * @param title of the list, which names what the folder is for.
 * @throws AppError as `folderToSubmit` does.
 */
export async function chooseFolder(folder: WantedFolder, title: string): Promise<vscode.WorkspaceFolder | undefined> {
  const found = folderToSubmit(vscode.workspace.workspaceFolders ?? [], folder);
  return found ?? (await pickFolder(title, l10n.t('Select the folder to submit')));
}

/** Lets the user pick one of the folders on a local disk. */
export async function pickFolder(title: string, placeholder: string): Promise<vscode.WorkspaceFolder | undefined> {
  const items = diskFolders().map((folder) => ({
    label: label`$(root-folder) ${folder.name}`,
    description: label`${dirname(folder.uri.fsPath)}`,
    folder,
  }));
  const picked = await pickOne({ title, placeholder, items });
  return picked === 'back' ? undefined : picked?.folder;
}
