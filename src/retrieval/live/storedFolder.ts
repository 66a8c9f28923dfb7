import { FolderIndex, type FolderIndexOptions } from '../folder/folderIndex.ts';
import type { ReadCommits } from '../history/commit.ts';
import { HistoryUpdater } from './historyUpdater.ts';
import type { EnergyGate } from '../semantic/energyGate.ts';
import type { OpenFolder } from './indexService.ts';
import { type OpenModel, SemanticIndex } from '../semantic/semanticIndex.ts';
import { type FollowOptions, followWriter } from './followWriter.ts';

export type StoredFolderOptions = Omit<FolderIndexOptions, 'root'> & {
  readonly energy: EnergyGate;
  /** If undefined, past commits are not used. */
  readonly readCommits?: ReadCommits | undefined;
  /** If undefined, keyword ranking is used. */
  readonly openModel?: OpenModel | undefined;
};

interface StoredFolder {
  readonly index: FolderIndex;
  readonly history: HistoryUpdater;
  /** Undefined without models, and if the folder was closed meanwhile. */
  readonly semantic: SemanticIndex | undefined;
}

/** Opens what is stored about a folder with this real path, and follows the changes of other processes until the signal aborts. */
export async function openStored(
  root: string,
  options: StoredFolderOptions &
    FollowOptions & { readonly folder: OpenFolder; readonly overlays: ReadonlyMap<string, string> },
): Promise<StoredFolder> {
  const { home, workerProgram, energy, openModel, signal, onDidChange } = options;
  const { isTrusted, usesHistory = false } = options.folder;
  const readCommits = isTrusted && usesHistory ? options.readCommits : undefined;
  const index = await FolderIndex.open({ root, home, workerProgram });
  if (signal.aborted) index[Symbol.dispose]();
  for (const [path, text] of options.overlays) index.setOverlay(path, text);
  void followWriter(index, options);
  const isSemantic = openModel !== undefined && !signal.aborted;
  const semantic = isSemantic
    ? new SemanticIndex({ root, home, energy, openModel, sources: () => index.sources(), onDidChange })
    : undefined;
  return { index, history: new HistoryUpdater(index, { readCommits, signal, onDidChange }), semantic };
}
