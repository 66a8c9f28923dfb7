import { countGitChanges } from '../../workspace/git/gitChanges.ts';
import { readGitCommit } from '../../workspace/git/gitCommit.ts';
import type { JobRecord } from '../ledger/record.ts';

/**
 * The commit of a folder and how much differs from it, if known. A submit does not fail because git does.
 *
 * @param options.isTrusted whether git may be run and its files may be read.
 * @throws the signal's reason on abort.
 */
export async function readGitState(
  folder: string,
  { isTrusted, signal }: { readonly isTrusted: boolean; readonly signal?: AbortSignal | undefined },
): Promise<Pick<JobRecord, 'gitCommit' | 'gitChanges'>> {
  const gitCommit = isTrusted ? await readGitCommit(folder) : null;
  if (gitCommit === null) return { gitCommit, gitChanges: null };
  try {
    return { gitCommit, gitChanges: await countGitChanges(folder, gitCommit, signal) };
  } catch {
    signal?.throwIfAborted();
    return { gitCommit, gitChanges: null };
  }
}
