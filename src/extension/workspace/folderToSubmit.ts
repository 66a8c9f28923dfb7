import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';

/** How a command names the folder: by its path, or by that of a file in it. */
export interface WantedFolder {
  readonly folder?: string | undefined;
  readonly file?: string | undefined;
}

/** The part of VS Code's `WorkspaceFolder` that is used here. */
interface WindowFolder {
  readonly uri: { readonly scheme: string; readonly fsPath: string };
}

/** The folders on a local disk. */
export function onDisk<F extends WindowFolder>(folders: readonly F[]): readonly F[] {
  return folders.filter(({ uri }) => uri.scheme === 'file');
}

/**
 * The folder of a window to submit: the named one, the innermost one that contains the file, or the only one. Undefined if the user
 * must pick.
 *
 * @throws AppError `no-folder` if none is open, `refused` if none is on a disk, `bad-input` if the named one is not open here.
 */
export function folderToSubmit<F extends WindowFolder>(
  all: readonly F[],
  { folder, file }: WantedFolder,
): F | undefined {
  const folders = onDisk(all);
  if (all.length === 0)
    throw new AppError('no-folder', l10n.t('No folder is open, so there is nothing to submit. Open a folder first.'));
  if (folders.length === 0)
    throw new AppError('refused', l10n.t('A virtual folder cannot be submitted. Open a folder on a local disk.'));
  if (folder !== undefined) {
    const found = folders.find(({ uri }) => uri.fsPath === folder);
    if (!found)
      throw new AppError('bad-input', l10n.t('The folder {0} is not open in this window. Open it first.', folder));
    return found;
  }
  if (file !== undefined) {
    const around = folders.filter(({ uri }) => pathInside(uri.fsPath, file) !== undefined);
    const [found] = around.toSorted((a, b) => b.uri.fsPath.length - a.uri.fsPath.length);
    if (!found)
      throw new AppError(
        'bad-input',
        l10n.t('This file is not in a folder of this window, so it cannot be submitted. Open its folder first.'),
      );
    return found;
  }
  return folders.length === 1 ? folders[0] : undefined;
}
