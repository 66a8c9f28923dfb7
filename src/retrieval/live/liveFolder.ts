import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { type Disposable, Emitter, untilTrue } from '../../core/processes/lifetime.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { ChangeQueue } from './changeQueue.ts';
import type { FileSelector } from './fileSelector.ts';
import type { HistoryUpdater } from './historyUpdater.ts';
import { IndexUpdater, EMPTY_COUNTS } from './indexUpdater.ts';
import { FolderActivity } from './folderActivity.ts';
import type { FileChange, FolderStatus, OpenFolder, SearchRequest, SkippedPath, ServiceHit } from './indexService.ts';
import type { Query } from '../search/query.ts';
import type { SemanticIndex } from '../semantic/semanticIndex.ts';
import { openStored, type StoredFolderOptions } from './storedFolder.ts';

// After this time, a folder that could not be read, or in which git hung, is tried again.
const RETRY_MS = 10_000;

// With more files, opening the index again takes more than a second of processor time.
const MOST_REOPENED = 30_000;

type LiveFolderOptions = StoredFolderOptions & { readonly selector: FileSelector };

/** One open folder: its index, the changes that are not indexed yet, and the indexing of them. */
export class LiveFolder implements Disposable {
  readonly folder: OpenFolder;
  readonly #options: LiveFolderOptions;
  readonly #queue = new ChangeQueue();
  readonly #overlays = new Map<string, string>();
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #end = new AbortController();
  readonly #opened = Promise.withResolvers<void>();
  #root: string;
  #updater: IndexUpdater | undefined;
  #history: HistoryUpdater | undefined;
  #semantic: SemanticIndex | undefined;
  /** Stops current work; also used to pause. */
  #work = new AbortController();
  readonly #activity = new FolderActivity();

  constructor(folder: OpenFolder, options: LiveFolderOptions) {
    this.folder = folder;
    this.#root = folder.path;
    this.#options = options;
    this.#queue.addAll();
    this.#run().catch(() => {}); // only disposal stops it
  }

  get status(): FolderStatus {
    return {
      folder: this.folder.path,
      ...this.#activity.status(this.#updater?.index.problem),
      ...(this.#updater?.counts ?? EMPTY_COUNTS),
      pending: this.#queue.size,
      semantic: this.#semantic?.state,
    };
  }

  /** Whether there is work to do, or opening this folder again would take long. */
  get isNeeded(): boolean {
    const { state, files, semantic } = this.status;
    const isResting = state === 'paused' || (state === 'ready' && this.#isIdle);
    return !isResting || semantic !== undefined || files > MOST_REOPENED;
  }

  /** Unindexed paths, from the first check of the folder on. */
  async skipped(): Promise<readonly SkippedPath[]> {
    const isKnown = (): boolean => this.#activity.updatedAt !== undefined || this.#activity.isStopped;
    await untilTrue(this.onDidChange, isKnown, this.#end.signal);
    return this.#updater?.skipped ?? [];
  }

  notify(changes: readonly FileChange[]): void {
    const paths = changes.flatMap((change) => (change.type === 'renamed' ? [change.from, change.path] : [change.path]));
    const inside = paths.map((path) => this.#inside(path)).filter((path) => path !== undefined);
    if (inside.includes('')) this.#queue.addAll();
    else if (inside.length > 0) this.#queue.add(inside);
    this.#changed.fire();
  }

  setOverlay(path: string, text: string | undefined): void {
    const inside = this.#inside(path);
    if (inside === undefined || inside === '') return;
    if (text === undefined) this.#overlays.delete(inside);
    else this.#overlays.set(inside, text);
    this.#updater?.index.setOverlay(inside, text);
  }

  /** The results in what is indexed now. The first search waits until the stored index is open. */
  async search(
    query: Query,
    { limit, isSemantic = false, isByPlace }: Omit<SearchRequest, 'isTyping' | 'folders'>,
  ): Promise<readonly ServiceHit[]> {
    await this.#opened.promise;
    const near = isSemantic ? await this.#semantic?.nearest(query) : undefined;
    const hits = await withRepair(this, async () => this.#updater?.index.search(query, limit, { near, isByPlace }));
    return (hits ?? []).map((hit) => ({ ...hit, folder: this.folder.path }));
  }

  /** The query with unknown words corrected; undefined if there are none. */
  async correct(query: string, options: { readonly isTyping?: boolean | undefined }): Promise<string | undefined> {
    await this.#opened.promise;
    return withRepair(this, async () => this.#updater?.index.correct(query, options));
  }

  /** Whether the path of a hit is this absolute path. */
  isAt(path: string, absolute: string): boolean {
    return this.#inside(absolute) === path;
  }

  pause(): void {
    if (this.#activity.isPaused) return;
    this.#activity.pause();
    this.#work.abort();
    this.#semantic?.pause();
    this.#changed.fire();
  }

  resume(): void {
    if (!this.#activity.isPaused) return;
    this.#queue.addAll();
    this.#activity.resume();
    this.#semantic?.resume();
    this.#changed.fire();
  }

  /** Applies another choice of the model for semantic ranking. */
  async reloadEmbeddingModel(): Promise<void> {
    await this.#semantic?.reload();
  }

  async rebuild(): Promise<void> {
    await this.#updater?.index.clear();
    this.#queue.addAll();
  }

  /** Resolves when all changes are indexed, or cannot be. */
  settle(): Promise<void> {
    return untilTrue(this.onDidChange, () => this.#activity.isStopped || this.#isIdle, this.#end.signal);
  }

  dispose(): void {
    this.#end.abort();
    this.#work.abort();
    this.#activity.resume();
    this.#opened.resolve();
    this.#semantic?.dispose();
    this.#updater?.index[Symbol.dispose]();
    this.#changed.dispose();
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      this.#work = new AbortController();
      if (this.#activity.isPaused) await this.#rest();
      else await this.#takeNext(AbortSignal.any([signal, this.#work.signal]));
      this.#changed.fire();
    }
  }

  async #takeNext(signal: AbortSignal): Promise<void> {
    const batch = await this.#queue.next(signal).catch(() => undefined);
    if (batch === undefined) return; // stopped or paused
    try {
      const updater = await this.#open();
      await updater.take(batch, {
        signal,
        onProgress: (doneBytes, totalBytes) => {
          this.#activity.progress = { doneBytes, totalBytes };
          this.#changed.fire();
        },
        onLargeWork: () => this.#options.energy.pass(signal, (isHeldBack) => this.#hold(isHeldBack)),
        onAll: () => {
          this.#activity.isBuilding = true;
          this.#changed.fire();
        },
      });
      this.#activity.succeed();
      this.#queue.finish();
      this.#history?.update();
      this.#semantic?.update();
    } catch (error) {
      if (!signal.aborted) await this.#waitAfter(error, signal);
      this.#queue.putBack(batch);
    } finally {
      this.#activity.progress = undefined;
    }
  }

  #hold(isHeldBack: boolean): void {
    this.#activity.isHeldBack = isHeldBack;
    this.#changed.fire();
  }

  async #waitAfter(failure: unknown, signal: AbortSignal): Promise<void> {
    this.#activity.fail(failure);
    this.#changed.fire();
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
  }

  async #open(): Promise<IndexUpdater> {
    try {
      this.#updater ??= await this.#openIndex();
      return this.#updater;
    } finally {
      this.#opened.resolve();
    }
  }

  async #openIndex(): Promise<IndexUpdater> {
    this.#root = await realpath(this.folder.path).catch((cause: unknown) => {
      throw new AppError('missing', `The folder ${this.folder.path} does not exist. Check the path.`, { cause });
    });
    const { index, history, semantic } = await openStored(this.#root, {
      ...this.#options,
      folder: this.folder,
      overlays: this.#overlays,
      signal: this.#end.signal,
      isPaused: () => this.#activity.isPaused,
      onNewWriter: () => this.#queue.addAll(),
      onDidChange: () => this.#changed.fire(),
    });
    this.#history = history;
    this.#semantic = semantic;
    return new IndexUpdater(index, this.#root, this.folder, this.#options.selector);
  }

  /** Allows another window to write the index. */
  async #rest(): Promise<void> {
    this.#changed.fire();
    await this.#open().catch(() => {}); // tried again, and reported, after the pause
    await this.#updater?.index.releaseLock();
    await this.#activity.resumed;
    if (!this.#end.signal.aborted) await this.#updater?.index.refresh().catch(() => false);
  }

  get #isIdle(): boolean {
    return this.#queue.isIdle && this.#history?.isBusy !== true;
  }

  #inside(path: string): string | undefined {
    return pathInside(this.folder.path, path) ?? pathInside(this.#root, path);
  }
}

/** Searches an index. If a file of it was damaged or removed, rebuilds it, and searches once more in what is indexed by then. */
async function withRepair<T>(index: { rebuild(): Promise<void> }, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'corrupt')) throw error;
    await index.rebuild();
    return search();
  }
}
