import { setTimeout as sleep } from 'node:timers/promises';
import { Index, type IndexOptions } from '../index/index.ts';
import type { ReadCommits } from '../index/folderHistory.ts';
import { HistoryUpdater } from './historyUpdater.ts';
import type { EnergyGate } from '../semantic/energyGate.ts';
import type { OpenFolder } from './indexService.ts';
import { type OpenModel, SemanticIndex } from '../semantic/semanticIndex.ts';

const REFRESH_MS = 1000;

export type StoredFolderOptions = Omit<IndexOptions, 'root'> & {
  readonly energy: EnergyGate;
  /** If undefined, past commits are not used. */
  readonly readCommits?: ReadCommits | undefined;
  /** If undefined, keyword ranking is used. */
  readonly openModel?: OpenModel | undefined;
};

interface StoredFolder {
  readonly index: Index;
  readonly history: HistoryUpdater;
  /** Undefined without models, and if the folder was closed meanwhile. */
  readonly semantic: SemanticIndex | undefined;
}

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly isPaused: () => boolean;
  /** Called when this process became the writer; files may have changed unnoticed. */
  readonly onNewWriter: () => void;
  readonly onDidChange: () => void;
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
  const index = await Index.open({ root, home, workerProgram });
  if (signal.aborted) index[Symbol.dispose]();
  for (const [path, text] of options.overlays) index.setOverlay(path, text);
  void followWriter(index, options);
  const isSemantic = openModel !== undefined && !signal.aborted;
  const semantic = isSemantic
    ? new SemanticIndex({ root, home, energy, openModel, sources: () => index.sources(), onDidChange })
    : undefined;
  return { index, history: new HistoryUpdater(index, { readCommits, signal, onDidChange }), semantic };
}

/** Applies what another process writes to an index, and takes over when that process stops, until the signal aborts. */
async function followWriter(index: Index, options: FollowOptions): Promise<void> {
  const { signal, isPaused, onNewWriter, onDidChange } = options;
  while (!signal.aborted) {
    await sleep(REFRESH_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted || isPaused() || index.isWriter) continue;
    if (await index.refresh()) onNewWriter();
    onDidChange();
  }
}
