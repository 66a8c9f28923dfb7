import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { exists } from '../../workspace/freeName.ts';

/** The document of a flow's source. @throws AppError `missing` if the file no longer exists. */
export async function openSource(uri: vscode.Uri): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch (cause) {
    if (await exists(uri)) throw cause;
    const name = vscode.workspace.asRelativePath(uri);
    const message = l10n.t('{0} no longer exists. If it was renamed, open the canvas of the new file.', name);
    throw new AppError('missing', message, { cause });
  }
}

/** The new address of a file that is renamed or moved, or whose folder is; undefined if it stays. */
export function renamedTo(uri: vscode.Uri, files: vscode.FileRenameEvent['files']): vscode.Uri | undefined {
  const before = uri.toString();
  for (const { oldUri, newUri } of files) {
    const old = oldUri.toString();
    if (before === old || before.startsWith(`${old}/`)) {
      return vscode.Uri.parse(`${newUri.toString()}${before.slice(old.length)}`, true);
    }
  }
  return undefined;
}
