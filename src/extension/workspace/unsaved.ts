import * as vscode from 'vscode';
import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { readSetting } from '../contributions/config.ts';
import { askModal } from '../ui/show.ts';

/**
 * Saves the changed files of a folder, asks, or leaves them, as the setting says. False when the person stops the submit.
 *
 * @throws AppError `conflict` when a file cannot be saved.
 */
export async function settleUnsaved(folder: vscode.WorkspaceFolder): Promise<boolean> {
  const dirty = vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && pathInside(folder.uri.fsPath, uri.fsPath) !== undefined,
  );
  const mode = readSetting('saveBeforeSubmit');
  if (dirty.length === 0 || mode === 'never') return true;
  if (mode === 'ask') {
    const [save, asOnDisk] = ['Save and Submit', 'Submit What Is on Disk'];
    const answer = await askModal(
      `${formatCount(dirty.length, 'file')} with unsaved changes in ${folder.name}.`,
      { isWarning: true },
      save,
      asOnDisk,
    );
    if (answer !== save) return answer === asOnDisk;
  }
  for (const document of dirty) {
    // A file that cannot be saved must not be sent in its old state unnoticed.
    if (!(await document.save()))
      throw new AppError('conflict', `${document.fileName} could not be saved. Nothing was sent.`);
  }
  return true;
}
