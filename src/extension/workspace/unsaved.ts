import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { formatInteger } from '../../core/text/format.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { readSetting } from '../contributions/config.ts';
import { askModal } from '../ui/show.ts';

/**
 * Saves the modified files of a folder, asks first, or leaves them, depending on the setting. False if the user cancels the submit.
 *
 * @throws AppError `conflict` if a file cannot be saved.
 */
export async function settleUnsaved(folder: vscode.WorkspaceFolder): Promise<boolean> {
  const { notebookDocuments, textDocuments } = vscode.workspace;
  const dirty = [...textDocuments, ...notebookDocuments].filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && pathInside(folder.uri.fsPath, uri.fsPath) !== undefined,
  );
  const mode = readSetting('saveBeforeSubmit');
  if (dirty.length === 0 || mode === 'never') return true;
  if (mode === 'ask') {
    const [save, asOnDisk] = [l10n.t('Save and Submit'), l10n.t('Submit What Is on Disk')];
    const answer = await askModal(
      dirty.length === 1
        ? l10n.t('{0} has 1 file with unsaved changes.', folder.name)
        : l10n.t('{0} has {1} files with unsaved changes.', folder.name, formatInteger(dirty.length)),
      { isWarning: true },
      save,
      asOnDisk,
    );
    if (answer !== save) return answer === asOnDisk;
  }
  for (const document of dirty) {
    // Without this, the old contents of a file that cannot be saved would be sent unnoticed.
    if (!(await document.save()))
      throw new AppError('conflict', l10n.t('{0} could not be saved, so nothing was sent.', document.uri.fsPath));
  }
  return true;
}
