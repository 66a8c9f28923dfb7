import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';

/** What a command says of the folder: its path, or that of a file in it. */
export interface WantedFolder {
  readonly folder?: string | undefined;
  readonly file?: string | undefined;
}

/** A folder of a window, as VS Code has it. */
interface WindowFolder {
  readonly uri: { readonly scheme: string; readonly fsPath: string };
}

/** Those that lie on a disk. */
export function onDisk<F extends WindowFolder>(folders: readonly F[]): readonly F[] {
  return folders.filter(({ uri }) => uri.scheme === 'file');
}

/**
 * The folder of a window to submit: the one that was named, the innermost around the file, or the only one. Undefined where a
 * person must pick.
 *
 * @throws AppError `missing` when none is open, `refused` when none is on a disk, `bad-input` when the named one is not open here.
 */
export function folderToSubmit<F extends WindowFolder>(
  all: readonly F[],
  { folder, file }: WantedFolder,
): F | undefined {
  const folders = onDisk(all);
  if (all.length === 0)
    throw new AppError('missing', 'No folder is open, so there is nothing to submit. Open a folder first.');
  if (folders.length === 0)
    throw new AppError('refused', 'This folder is virtual. Only a folder on a disk can be submitted.');
  if (folder !== undefined) {
    const found = folders.find(({ uri }) => uri.fsPath === folder);
    if (!found) throw new AppError('bad-input', `The folder ${folder} is not open in this window.`);
    return found;
  }
  if (file !== undefined) {
    const around = folders.filter(({ uri }) => pathInside(uri.fsPath, file) !== undefined);
    const [found] = around.toSorted((a, b) => b.uri.fsPath.length - a.uri.fsPath.length);
    if (!found)
      throw new AppError('bad-input', 'This file lies outside the folders of this window, so it cannot be submitted.');
    return found;
  }
  return folders.length === 1 ? folders[0] : undefined;
}
