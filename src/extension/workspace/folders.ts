import * as vscode from 'vscode';
import { AppError } from '../../core/errors.ts';
import { folderToSubmit, onDisk, type WantedFolder } from './folderToSubmit.ts';

/** @throws AppError `untrusted` in Restricted Mode. Every entry point that sends, runs or writes asks here, whatever menus show. */
export function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new AppError('untrusted', 'In Restricted Mode nothing is sent, run or written. Trust this folder first.');
}

/** Folders of this window that lie on a disk. */
export function diskFolders(): readonly vscode.WorkspaceFolder[] {
  return onDisk(vscode.workspace.workspaceFolders ?? []);
}

/**
 * The folder to submit, as `folderToSubmit` finds it, or the one that the person picks.
 *
 * @throws AppError as `folderToSubmit` does.
 */
export async function chooseFolder(wanted: WantedFolder): Promise<vscode.WorkspaceFolder | undefined> {
  const found = folderToSubmit(vscode.workspace.workspaceFolders ?? [], wanted);
  return found ?? (await vscode.window.showWorkspaceFolderPick({ placeHolder: 'Which folder is submitted?' }));
}
