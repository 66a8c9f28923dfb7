import { realpath } from 'node:fs/promises';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import type { SyncSummary } from '../../retrieval/folder/folderContent.ts';
import { FolderIndex } from '../../retrieval/folder/folderIndex.ts';
import { selectSearchable } from '../../workspace/select/searchableFiles.ts';
import type { Context } from '../command/context.ts';
import { Progress } from '../terminal/progress.ts';
import { readFolder } from '../submit/submitFlags.ts';

export interface UpToDateIndex {
  readonly index: FolderIndex;
  readonly root: string;
  readonly summary: SyncSummary;
  /** How long the update took. */
  readonly seconds: number;
}

/** Opens a folder's index and brings it up to date with the files that submitting the folder would send. */
export async function openUpToDateIndex(
  folder: string,
  { terminal, signal, env, program }: Context,
): Promise<UpToDateIndex> {
  const root = await realpath(await readFolder(folder));
  const progress = new Progress(terminal, 'indexing');
  const home = farwharfHome(env);
  requireOwnHome(home);
  const index = await FolderIndex.open({ root, home, workerProgram: program.indexWorker });
  try {
    const { files } = await selectSearchable(root, {
      isTrusted: true,
      isKnown: (file) => index.isAsKnown(file),
      signal,
      onProgress: (count) => terminal.status(`reading ${folder}: ${count.toLocaleString('en-US')} files`),
    });
    const onProgress = (done: number, total: number): void => progress.update(done, total);
    const summary = await index.sync(files, { signal, onProgress });
    terminal.clearStatus();
    if (index.problem !== undefined) terminal.note(index.problem.message);
    else if (!index.isWriter)
      terminal.note('Another process is updating this index, so the changes found now were not saved.');
    return { index, root, summary, seconds: progress.seconds };
  } catch (error) {
    index[Symbol.dispose]();
    throw error;
  }
}
