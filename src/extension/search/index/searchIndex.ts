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
 * The index of the window's folders, as the window sees it. Its thread starts at the first use. What the thread is told of the
 * window (folders, unsaved files, whether it is paused) is kept here, for a start that comes later and for a thread that was lost.
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
    this.#disposables.add(thread.onDidRestart(() => void this.#tellAll().catch(() => {}))); // it tells of its own failures
  }

  /** What was last heard of each folder; nothing before the start. */
  get status(): readonly FolderStatus[] {
    return this.#thread.status;
  }

  get isStarted(): boolean {
    return this.#opened !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether there is something to resume: the index is paused, or large work waits for power. */
  get isHeldUp(): boolean {
    return this.#isPaused || this.status.some(({ state }) => state === 'waiting');
  }

  /** Opens the folders, which are indexed behind the window's work. */
  start(): Promise<void> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Tells the service which folders are open now. */
  async updateFolders(): Promise<void> {
    if (this.isStarted) await this.#thread.open(this.#folders());
  }

  async notify(changes: readonly FileChange[]): Promise<void> {
    if (this.isStarted && changes.length > 0) await this.#thread.index.notify(changes);
  }

  /** The text of an unsaved file, or undefined when it is as on disk again. */
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

  /** Resuming goes on with what waits for power, too. */
  async setPaused(isPaused: boolean): Promise<void> {
    this.#isPaused = isPaused;
    if (!isPaused) this.#isSavingEnergy = false;
    if (this.isStarted) await (isPaused ? this.#thread.index.pause() : this.#thread.index.resume());
    this.#changed.fire();
  }

  /** Whether large work waits, as while the machine runs on battery. */
  async setSavingEnergy(isSaving: boolean): Promise<void> {
    this.#isSavingEnergy = isSaving;
    if (this.isStarted) await this.#thread.index.saveEnergy(isSaving);
  }

  async rebuild(): Promise<void> {
    await this.start();
    await this.#thread.index.rebuild();
  }

  /** Takes up another choice of the model that ranks a folder by meaning. */
  async reloadMeaning(): Promise<void> {
    await this.start();
    await this.#thread.index.reloadMeaning();
  }

  async passedOver(folder: string, limit: number): ReturnType<IndexService['passedOver']> {
    return this.#thread.index.passedOver(folder, { limit });
  }

  /** Resolves when what was notified before can be found. */
  async settle(): Promise<void> {
    await this.start();
    await this.#thread.index.settle();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #open(): Promise<void> {
    try {
      if (this.#isSavingEnergy) await this.#thread.index.saveEnergy(true); // before a folder is gone through
      await this.#thread.open(this.#folders());
      await this.#tellAll();
    } catch (error) {
      this.#opened = undefined; // the next use tries again
      throw error;
    }
  }

  /** A paused index opens what it has, and reads nothing. */
  async #tellAll(): Promise<void> {
    if (this.#isPaused) await this.#thread.index.pause();
    if (this.#isSavingEnergy) await this.#thread.index.saveEnergy(true);
    for (const [path, text] of this.#overlays) await this.#thread.index.setOverlay(path, text);
  }
}
