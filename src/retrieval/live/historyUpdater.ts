import type { Index } from '../index/index.ts';
import type { ReadCommits } from '../index/folderHistory.ts';

interface HistoryOptions {
  /** If undefined, the index forgets the commits that it has. */
  readonly readCommits: ReadCommits | undefined;
  readonly signal: AbortSignal;
  readonly onDidChange: () => void;
}

/** Keeps the past commits of an open folder up to date in the background. */
export class HistoryUpdater {
  readonly #index: Index;
  readonly #options: HistoryOptions;
  #isDue = false;
  #isBusy = false;

  constructor(index: Index, options: HistoryOptions) {
    this.#index = index;
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The folder has changed, so that there may be other commits. */
  update(): void {
    this.#isDue = true;
    if (!this.#isBusy) void this.#run();
  }

  async #run(): Promise<void> {
    const { readCommits, signal, onDidChange } = this.#options;
    this.#isBusy = true;
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false;
      const { history, isWriter: isStored } = this.#index;
      const updated =
        readCommits === undefined ? history.clear({ isStored }) : history.update(readCommits, { signal, isStored });
      // If git hangs or the disk is full, listing or storing the files fails too, and the folder's status reports that.
      await updated.catch(() => {});
    }
    this.#isBusy = false;
    onDidChange();
  }
}
