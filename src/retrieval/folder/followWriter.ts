import { setTimeout as sleep } from 'node:timers/promises';
import type { FolderIndex } from './folderIndex.ts';

const REFRESH_MS = 1000;

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly isPaused: () => boolean;
  /** The index of this process became the one that writes: files may have changed that nobody saw. */
  readonly onNewWriter: () => void;
  readonly onDidChange: () => void;
}

/** Sees what another process writes to an index, and takes over when that ends; until the signal aborts. */
export async function followWriter(index: FolderIndex, options: FollowOptions): Promise<void> {
  const { signal, isPaused, onNewWriter, onDidChange } = options;
  while (!signal.aborted) {
    await sleep(REFRESH_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted || isPaused() || index.isWriter) continue;
    if (await index.refresh()) onNewWriter();
    onDidChange();
  }
}
