import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
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
 * @throws AppError as `folderToSubmit` does.
 */
export async function chooseFolder(wanted: WantedFolder): Promise<vscode.WorkspaceFolder | undefined> {
  const found = folderToSubmit(vscode.workspace.workspaceFolders ?? [], wanted);
  return found ?? (await vscode.window.showWorkspaceFolderPick({ placeHolder: l10n.t('Select the folder to submit') }));
}
