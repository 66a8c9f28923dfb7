import { realpath } from 'node:fs/promises';
import { farwharfHome } from '../../core/files/home.ts';
import { messageOf } from '../../core/errors.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import type { SyncSummary } from '../../retrieval/index/index.ts';
import { Index } from '../../retrieval/index/index.ts';
import { readCommits } from '../../workspace/git/commitLog.ts';
import { selectSearchable } from '../../workspace/select/searchableFiles.ts';
import type { Context } from '../command/commandContext.ts';
import { Progress } from '../terminal/progressLine.ts';
import { describeExclusions } from '../submit/selectionSummary.ts';
import { readFolder } from '../submit/submitFlags.ts';

export interface UpToDateIndex {
  readonly index: Index;
  readonly root: string;
  readonly summary: SyncSummary;
  /** How long the update took. */
  readonly seconds: number;
}

/** Opens a folder's index and brings it up to date with the files that submitting the folder would send, and its past commits. */
export async function openUpToDateIndex(
  folder: string,
  { terminal, signal, env, cwd, program }: Context,
  { usesHistory = true }: { readonly usesHistory?: boolean } = {},
): Promise<UpToDateIndex> {
  const root = await realpath(await readFolder(folder, cwd));
  const progress = new Progress(terminal, 'indexing');
  const home = farwharfHome(env);
  requireOwnHome(home);
  const index = await Index.open({ root, home, workerProgram: program.indexWorker });
  try {
    const { files, excluded } = await selectSearchable(root, {
      isTrusted: true,
      isKnown: (file) => index.isUnchanged(file),
      signal,
      onProgress: (count) => terminal.status(`reading ${folder}: ${count.toLocaleString('en-US')} files`),
    });
    const onProgress = (done: number, total: number): void => progress.update(done, total);
    const summary = await index.sync(files, { signal, onProgress });
    await updateHistory(index, { usesHistory, terminal, signal });
    terminal.clearStatus();
    if (files.length === 0) {
      const why = excluded.length === 0 ? 'the folder has no files.' : 'every file is left out, as in a submit:';
      terminal.note(`There is nothing to search, because ${why}`);
      for (const line of describeExclusions({ excluded, findings: [] })) terminal.note(line);
    }
    if (index.problem !== undefined) terminal.note(index.problem.message);
    else if (!index.isWriter)
      terminal.note('Another process is updating this index, so the changes found now were not saved.');
    return { index, root, summary, seconds: progress.seconds };
  } catch (error) {
    index[Symbol.dispose]();
    throw error;
  }
}

/** Without its past commits, a folder can still be searched. */
async function updateHistory(
  { history, isWriter: isStored }: Index,
  { usesHistory, terminal, signal }: Pick<Context, 'terminal' | 'signal'> & { readonly usesHistory: boolean },
): Promise<void> {
  if (!usesHistory) return history.clear({ isStored: false });
  terminal.status('reading past commits');
  try {
    await history.update(readCommits, { signal, isStored });
  } catch (error) {
    signal.throwIfAborted();
    terminal.note(`The past commits of this folder are not used: ${messageOf(error)}`);
  }
}
