import { realpath } from 'node:fs/promises';
import { readGitCommit } from './gitCommit.ts';
import { PrivateGitFolder } from './privateGitFolder.ts';
import { findRepository } from './repository.ts';

/** Where a folder stands in its history. */
export interface GitState {
  /** In hexadecimal; null if it is unknown. */
  readonly gitCommit: string | null;
  /** How many files differ from the commit; null if it is unknown. */
  readonly gitChanges: number | null;
}

/**
 * The commit of a folder and how much differs from it, if known. A submit does not fail because git does.
 *
 * @param options.isTrusted whether git may be run and its files may be read.
 * @throws the signal's reason on abort.
 */
export async function readGitState(
  folder: string,
  { isTrusted, signal }: { readonly isTrusted: boolean; readonly signal?: AbortSignal | undefined },
): Promise<GitState> {
  const gitCommit = isTrusted ? await readGitCommit(folder) : null;
  if (gitCommit === null) return { gitCommit, gitChanges: null };
  try {
    return { gitCommit, gitChanges: await countGitChanges(folder, gitCommit, signal) };
  } catch {
    signal?.throwIfAborted();
    return { gitCommit, gitChanges: null };
  }
}

/**
 * How many files of a folder differ from a commit or are not in it, without the ignored ones. Null if git is not installed or cannot tell.
 *
 * @param commit the current commit, in hexadecimal.
 * @throws the signal's reason, or AppError `limit` if git hangs.
 */
export async function countGitChanges(folder: string, commit: string, signal?: AbortSignal): Promise<number | null> {
  const root = await realpath(folder);
  const repository = await findRepository(root);
  if (repository?.isOwn !== true) return null;
  await using git = await PrivateGitFolder.create(repository, signal);
  const list = async (...argv: readonly string[]) => (await git?.run(root, argv, { signal }))?.items;
  // Diff drivers of attributes could name a program, so they are not used.
  const changed = await list('diff', '--no-ext-diff', '--no-textconv', '--name-only', '-z', '--relative', commit, '--');
  const untracked = await list('ls-files', '--others', '--exclude-standard', '-z');
  return changed === undefined || untracked === undefined ? null : changed.length + untracked.length;
}
