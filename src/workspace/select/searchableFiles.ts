import { isOwnGit } from './exclusion.ts';
import { inspectFiles } from './fileInspection.ts';
import { LocalFiles } from '../files/localFile.ts';
import { selectFiles, type Selection, type SelectOptions } from './selection.ts';

type Searchable = Pick<Selection, 'files' | 'excluded'>;

/**
 * The files in a folder that a search may read: those that a submit would send, without limits of number and size.
 *
 * @throws as `selectFiles` does.
 */
export async function selectSearchable(
  root: string,
  options: Pick<SelectOptions, 'isTrusted' | 'only' | 'isKnown' | 'signal' | 'onProgress'>,
): Promise<Searchable> {
  // Git refuses a path behind a link, and then lists nothing.
  const local = new LocalFiles(root);
  const only = options.only?.filter((path) => !isBehindLink(local, path));
  const unlimited = { maxFileBytes: Infinity, maxTotalBytes: Infinity, maxFiles: Infinity };
  const { files, excluded } = await selectFiles(root, { ...options, only, ...unlimited });
  return { files, excluded: excluded.filter((exclusion) => !isOwnGit(exclusion)) };
}

/** Checks which files are still searchable: one may have become a link, unreadable or a secret. */
export function inspectSearchable(
  root: string,
  paths: readonly string[],
  { isKnown, signal }: Pick<SelectOptions, 'isKnown' | 'signal'>,
): Promise<Searchable> {
  return inspectFiles(root, paths, { chosen: new Map(), maxFileBytes: Infinity, isKnown, signal });
}

function isBehindLink(local: LocalFiles, path: string): boolean {
  try {
    const file = local.look(path);
    return file.type === 'blocked' && file.by.path !== path;
  } catch {
    return false; // the inspection will find it unreadable
  }
}
