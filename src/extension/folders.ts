import * as vscode from 'vscode';
import { AppError } from '../core/errors.ts';
import { pathInside } from '../core/pathInside.ts';

/** @throws AppError `untrusted` in Restricted Mode. Every entry point that sends, runs or writes asks here, whatever menus show. */
export function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new AppError('untrusted', 'In Restricted Mode nothing is sent, run or written. Trust this folder first.');
}

/** Folders of this window that lie on a disk. */
export function diskFolders(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

/**
 * The folder to submit: the one that was named, that of the file, that of the active editor, the only one, or the one that the person picks.
 *
 * @throws AppError `missing` when none is open, `refused` when it is not on a disk, `bad-input` when the named one is not open here.
 */
export async function chooseFolder(wanted: {
  folder?: string;
  file?: string;
}): Promise<vscode.WorkspaceFolder | undefined> {
  const all = vscode.workspace.workspaceFolders ?? [];
  const folders = diskFolders();
  if (all.length === 0)
    throw new AppError('missing', 'No folder is open, so there is nothing to submit. Open a folder first.');
  if (folders.length === 0)
    throw new AppError('refused', 'This folder is virtual. Only a folder on a disk can be submitted.');
  if (wanted.folder !== undefined) {
    const found = folders.find(({ uri }) => uri.fsPath === wanted.folder);
    if (!found) throw new AppError('bad-input', `The folder ${wanted.folder} is not open in this window.`);
    return found;
  }
  if (wanted.file !== undefined) {
    const { file } = wanted;
    const found = folders.find(({ uri }) => pathInside(uri.fsPath, file) !== undefined);
    if (!found)
      throw new AppError('bad-input', 'This file lies outside the folders of this window, so it cannot be submitted.');
    return found;
  }
  if (folders.length === 1) return folders[0];
  return vscode.window.showWorkspaceFolderPick({ placeHolder: 'Which folder is submitted?' });
}
