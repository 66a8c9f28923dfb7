import { setTimeout as sleep } from 'node:timers/promises';
import type { FolderIndex } from '../folder/folderIndex.ts';

const REFRESH_MS = 1000;

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly isPaused: () => boolean;
  /** Called when this process became the writer; files may have changed unnoticed. */
  readonly onNewWriter: () => void;
  readonly onDidChange: () => void;
}

/** Applies what another process writes to an index, and takes over when that process stops, until the signal aborts. */
export async function followWriter(index: FolderIndex, options: FollowOptions): Promise<void> {
  const { signal, isPaused, onNewWriter, onDidChange } = options;
  while (!signal.aborted) {
    await sleep(REFRESH_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted || isPaused() || index.isWriter) continue;
    if (await index.refresh()) onNewWriter();
    onDidChange();
  }
}
