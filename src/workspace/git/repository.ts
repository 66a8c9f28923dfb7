import { lstat, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readBounded } from '../files/boundedRead.ts';

// `.git` and `commondir` contain one path.
const MOST_PATH_BYTES = 16_384;

/** The locations of a repository's files (gitrepository-layout(5)). */
export interface Repository {
  /** The top of its work tree. */
  readonly top: string;
  /** Its own files, `HEAD` and `index` among them. */
  readonly gitFolder: string;
  /** Files that linked work trees share: objects, references, configuration, `info/exclude`. Usually the same folder. */
  readonly commonFolder: string;
  /** Whether this user owns all of it. Always true on Windows, where Node.js reports no owners. */
  readonly isOwn: boolean;
}

/**
 * The repository of a folder, found like git but without it: the nearest `.git` in the folder or above that is a repository. Undefined if
 * there is none, and for a folder inside `.git`.
 *
 * Its configuration is not read, so `core.worktree` has no effect.
 */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  if (resolve(folder).split(/[\\/]/).includes('.git')) return undefined;
  for (let top = resolve(folder); ; top = dirname(top)) {
    const repository = await repositoryAt(top);
    if (repository !== undefined) return repository;
    if (top === dirname(top)) return undefined;
  }
}

async function repositoryAt(top: string): Promise<Repository | undefined> {
  const dotGit = join(top, '.git');
  const entry = await lstat(dotGit).catch(() => undefined);
  if (entry === undefined) return undefined;
  const link = /^gitdir: (.+)$/m.exec(await readText(dotGit))?.[1];
  const gitFolder = link === undefined ? dotGit : resolve(top, link);
  const commonFolder = resolve(gitFolder, (await readText(join(gitFolder, 'commondir'))).trim());
  const parts = [join(gitFolder, 'HEAD'), join(commonFolder, 'objects'), join(commonFolder, 'refs')];
  const [head, ...folders] = await Promise.all(parts.map((part) => stat(part).catch(() => undefined)));
  if (head?.isFile() !== true || !folders.every((part) => part?.isDirectory())) return undefined;
  const owned = await Promise.all([top, gitFolder, commonFolder, ...parts].map((path) => stat(path)));
  const isOwn = [entry, ...owned].every(({ uid }) => uid === (process.geteuid?.() ?? uid));
  return { top, gitFolder, commonFolder, isOwn };
}

async function readText(path: string): Promise<string> {
  return (await readBounded(path, MOST_PATH_BYTES))?.toString() ?? '';
}
