import { type Disposable, DisposableStore, Emitter } from '../../../core/processes/lifetime.ts';
import type {
  FileChange,
  FolderStatus,
  IndexService,
  OpenFolder,
  RelatedRequest,
  SearchRequest,
  ServiceHit,
} from '../../../retrieval/folder/indexService.ts';
import type { IndexThread } from '../../threads/indexThread.ts';

export interface SearchIndexOptions {
  readonly thread: IndexThread;
  /** The folders to keep indexed, as they are now. */
  readonly folders: () => readonly OpenFolder[];
  readonly isPaused: boolean;
}

/**
 * The index of the window's folders. Its thread starts on first use. The state of the window (folders, unsaved files, paused or not) is
 * stored here, so that it can be sent to a thread that starts later or restarts.
 */
export class SearchIndex implements Disposable {
  readonly #thread: IndexThread;
  readonly #folders: () => readonly OpenFolder[];
  readonly #changed = new Emitter<void>();
  readonly #disposables = new DisposableStore();
  readonly #overlays = new Map<string, string>();
  #opened: Promise<void> | undefined;
  #isPaused: boolean;
  #isSavingEnergy = false;
  /** The status of a folder changed, or the index was paused or resumed. */
  readonly onDidChange = this.#changed.event;

  constructor({ thread, folders, isPaused }: SearchIndexOptions) {
    this.#thread = thread;
    this.#folders = folders;
    this.#isPaused = isPaused;
    this.#disposables.add(this.#changed);
    this.#disposables.add(thread.onDidChangeStatus(() => this.#changed.fire()));
    this.#disposables.add(thread.onDidRestart(() => void this.#sendState().catch(() => {}))); // the thread reports its failures
  }

  /** The last reported status of each folder; empty before the start. */
  get status(): readonly FolderStatus[] {
    return this.#thread.status;
  }

  get isStarted(): boolean {
    return this.#opened !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether there is something to resume: indexing is paused by the user or on battery. */
  get isHeldUp(): boolean {
    return this.#isPaused || this.status.some(({ state }) => state === 'waiting');
  }

  /** Opens the folders, which are then indexed in the background. */
  start(): Promise<void> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Updates which folders are open. */
  async updateFolders(): Promise<void> {
    if (this.isStarted) await this.#thread.open(this.#folders());
  }

  async notify(changes: readonly FileChange[]): Promise<void> {
    if (this.isStarted && changes.length > 0) await this.#thread.index.notify(changes);
  }

  /** Sets the text of an unsaved file, or undefined once it is the same as on disk. */
  async setOverlay(path: string, text: string | undefined): Promise<void> {
    const wasKnown = this.#overlays.has(path);
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, text);
    if (this.isStarted && (text !== undefined || wasKnown)) await this.#thread.index.setOverlay(path, text);
  }

  async search(query: string, request: SearchRequest): Promise<readonly ServiceHit[]> {
    await this.start();
    return this.#thread.index.search(query, request);
  }

  async related(text: string, request: RelatedRequest): Promise<readonly ServiceHit[]> {
    await this.start();
    return this.#thread.index.related(text, request);
  }

  /** Resuming also continues work that was paused on battery. */
  async setPaused(isPaused: boolean): Promise<void> {
    this.#isPaused = isPaused;
    if (!isPaused) this.#isSavingEnergy = false;
    if (this.isStarted) await (isPaused ? this.#thread.index.pause() : this.#thread.index.resume());
    this.#changed.fire();
  }

  /** Pauses or resumes large work, for machines on battery. */
  async setSavingEnergy(isSaving: boolean): Promise<void> {
    this.#isSavingEnergy = isSaving;
    if (this.isStarted) await this.#thread.index.saveEnergy(isSaving);
  }

  async rebuild(): Promise<void> {
    await this.start();
    await this.#thread.index.rebuild();
  }

  /** Reads the choice of the embedding model again. */
  async reloadEmbeddingModel(): Promise<void> {
    await this.start();
    await this.#thread.index.reloadEmbeddingModel();
  }

  async skipped(folder: string, limit: number): ReturnType<IndexService['skipped']> {
    return this.#thread.index.skipped(folder, { limit });
  }

  /** Resolves once all changes reported so far can be found. */
  async settle(): Promise<void> {
    await this.start();
    await this.#thread.index.settle();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #open(): Promise<void> {
    try {
      if (this.#isSavingEnergy) await this.#thread.index.saveEnergy(true); // before the folders are read
      await this.#thread.open(this.#folders());
      await this.#sendState();
    } catch (error) {
      this.#opened = undefined; // the next use tries again
      throw error;
    }
  }

  /** A paused index opens what is stored and reads no files. */
  async #sendState(): Promise<void> {
    if (this.#isPaused) await this.#thread.index.pause();
    if (this.#isSavingEnergy) await this.#thread.index.saveEnergy(true);
    for (const [path, text] of this.#overlays) await this.#thread.index.setOverlay(path, text);
  }
}
