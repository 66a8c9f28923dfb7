import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { type Disposable, Emitter, untilTrue } from '../../core/processes/lifetime.ts';
import type { ReadCommits } from '../index/folderHistory.ts';
import { Index } from '../index/index.ts';
import type { NearChunk } from '../search/nearChunks.ts';
import type { Query } from '../search/query.ts';
import type { EnergyGate } from '../semantic/energyGate.ts';
import { type OpenModel, SemanticIndex } from '../semantic/semanticIndex.ts';
import type { SemanticState } from '../semantic/folderVectors.ts';
import { ChangeQueue } from './changeQueue.ts';
import { type FileSelector, type IndexCounts, IndexUpdater, type SkippedPath } from './indexUpdater.ts';

// After this time, a folder that could not be read, or in which git hung, is tried again.
const RETRY_MS = 10_000;
const REFRESH_MS = 1000;
// With more files, opening the index again takes more than a second of processor time.
const MOST_REOPENED = 30_000;

const NOT_OPEN: IndexCounts = { files: 0, chunks: 0, bytes: 0, skipped: 0, isWriter: false };

/** A folder that is open in the editor. */
export interface WatchedFolder {
  readonly path: string;
  /** Whether git may be run in it; if not, its ignore files are read without git. */
  readonly isTrusted: boolean;
  /** Whether past commits are evidence for the ranking, if git may be run; false if absent. */
  readonly usesHistory?: boolean;
}

/** A change on disk; paths are absolute, of files or of whole folders. */
export type DiskChange =
  | { readonly type: 'created' | 'changed' | 'deleted'; readonly path: string }
  | { readonly type: 'renamed'; readonly path: string; readonly from: string };

/**
 * `building` while the whole folder is read, at the start and when its ignore rules change; `ready` also while single changes are
 * indexed; `waiting` if much is to be read while saving energy; `error` until the next change succeeds.
 */
type FolderState = 'building' | 'ready' | 'waiting' | 'paused' | 'error';

export interface FolderStatus extends IndexCounts {
  /** The path under which it was opened. */
  readonly folder: string;
  readonly state: FolderState;
  /** The number of changed files that are not indexed yet. */
  readonly pending: number;
  /** Progress of a build, in bytes. */
  readonly progress: { readonly doneBytes: number; readonly totalBytes: number } | undefined;
  /** Milliseconds since 1970; undefined before the first update. */
  readonly updatedAt: number | undefined;
  readonly problem: { readonly code: string; readonly message: string } | undefined;
  /** The state of semantic ranking; undefined if the folder uses keyword ranking only. */
  readonly semantic?: SemanticState | undefined;
}

export interface FolderIndexOptions {
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the build threads. */
  readonly workerProgram: string;
  readonly selector: FileSelector;
  /** If undefined, past commits are not used. */
  readonly readCommits?: ReadCommits | undefined;
  /** Opens the model that was selected for a folder's semantic ranking, if any. If undefined, keyword ranking is used. */
  readonly openModel?: OpenModel | undefined;
}

interface SharedState {
  readonly energy: EnergyGate;
  /** The texts of unsaved files by their absolute paths, for an index that opens later. */
  readonly overlays: ReadonlyMap<string, string>;
}

/** One open folder: its index, the changes that are not indexed yet, and the indexing of them. */
export class FolderIndex implements Disposable {
  readonly folder: WatchedFolder;
  readonly #options: FolderIndexOptions & SharedState;
  readonly #queue = new ChangeQueue();
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #end = new AbortController();
  readonly #opened = Promise.withResolvers<void>();
  #root: string;
  #index: Index | undefined;
  #updater: IndexUpdater | undefined;
  #semantic: SemanticIndex | undefined;
  /** Stops current work; also used to pause. */
  #work = new AbortController();
  /** Whether the whole folder is being read. */
  #isBuilding = true;
  /** Whether much is to be read while saving energy. */
  #isHeldBack = false;
  #isPaused = false;
  #resumed = Promise.withResolvers<void>();
  #progress: FolderStatus['progress'];
  #updatedAt: number | undefined;
  /** Why the last changes could not be indexed. */
  #problem: unknown;
  #isHistoryDue = false;
  #isReadingHistory = false;

  constructor(folder: WatchedFolder, options: FolderIndexOptions & SharedState) {
    this.folder = folder;
    this.#root = folder.path;
    this.#options = options;
    this.#queue.addAll();
    this.#run().catch(() => {}); // only disposal stops it
  }

  get status(): FolderStatus {
    const problem = this.#problem ?? this.#index?.problem;
    return {
      folder: this.folder.path,
      state: this.#state(problem !== undefined),
      progress: this.#progress,
      updatedAt: this.#updatedAt,
      problem: problem === undefined ? undefined : describe(problem),
      ...(this.#updater?.counts ?? NOT_OPEN),
      pending: this.#queue.size,
      semantic: this.#semantic?.state,
    };
  }

  /** The index; undefined until it is open. */
  get index(): Index | undefined {
    return this.#index;
  }

  /** Whether there is work to do, or opening this folder again would take long. */
  get isNeeded(): boolean {
    const { state, files, semantic } = this.status;
    const isResting = state === 'paused' || (state === 'ready' && this.#isIdle);
    return !isResting || semantic !== undefined || files > MOST_REOPENED;
  }

  /** An absolute path relative to the folder; undefined outside of it. */
  pathOf(absolute: string): string | undefined {
    return pathInside(this.folder.path, absolute) ?? pathInside(this.#root, absolute);
  }

  /** Unindexed paths, from the first check of the folder on. */
  async skipped(): Promise<readonly SkippedPath[]> {
    const isKnown = (): boolean => this.#updatedAt !== undefined || this.#isStopped;
    await untilTrue(this.onDidChange, isKnown, this.#end.signal);
    return this.#updater?.skipped ?? [];
  }

  notify(changes: readonly DiskChange[]): void {
    const paths = changes.flatMap((change) => (change.type === 'renamed' ? [change.from, change.path] : [change.path]));
    const inside = paths.map((path) => this.pathOf(path)).filter((path) => path !== undefined);
    if (inside.includes('')) this.#queue.addAll();
    else if (inside.length > 0) this.#queue.add(inside);
    this.#changed.fire();
  }

  /**
   * Reads what is indexed now; undefined if there is no index. The first call waits until the stored index is open. If a file of the index
   * was damaged or removed, rebuilds it, and reads what is indexed by then.
   */
  async read<T>(from: (index: Index) => T | Promise<T>): Promise<T | undefined> {
    await this.#opened.promise;
    try {
      return this.#index && (await from(this.#index));
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'corrupt')) throw error;
      await this.rebuild();
      return this.#index && (await from(this.#index));
    }
  }

  /** The chunks closest to a query by the selected model; undefined without one. */
  async nearest(query: Query): Promise<readonly NearChunk[] | undefined> {
    await this.#opened.promise;
    return this.#semantic?.nearest(query);
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#resumed = Promise.withResolvers<void>();
    this.#work.abort();
    this.#semantic?.pause();
    this.#changed.fire();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#queue.addAll();
    this.#isPaused = false;
    this.#resumed.resolve();
    this.#semantic?.resume();
    this.#changed.fire();
  }

  /** Applies another choice of the model for semantic ranking. */
  async reloadEmbeddingModel(): Promise<void> {
    await this.#semantic?.reload();
  }

  async rebuild(): Promise<void> {
    await this.#index?.clear();
    this.#queue.addAll();
  }

  /** Resolves when all changes are indexed, or cannot be. */
  settle(): Promise<void> {
    return untilTrue(this.onDidChange, () => this.#isStopped || this.#isIdle, this.#end.signal);
  }

  dispose(): void {
    this.#end.abort();
    this.#work.abort();
    this.#isPaused = false;
    this.#resumed.resolve();
    this.#opened.resolve();
    this.#semantic?.dispose();
    this.#index?.[Symbol.dispose]();
    this.#changed.dispose();
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      this.#work = new AbortController();
      if (this.#isPaused) await this.#rest();
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
          this.#progress = { doneBytes, totalBytes };
          this.#changed.fire();
        },
        onLargeWork: () =>
          this.#options.energy.pass(signal, (isHeldBack) => {
            this.#isHeldBack = isHeldBack;
            this.#changed.fire();
          }),
        onAll: () => {
          this.#isBuilding = true;
          this.#changed.fire();
        },
      });
      this.#problem = undefined;
      this.#isBuilding = false;
      this.#updatedAt = Date.now();
      this.#queue.finish();
      this.#isHistoryDue = true;
      if (!this.#isReadingHistory) void this.#readHistory();
      this.#semantic?.update();
    } catch (error) {
      if (!signal.aborted) await this.#waitAfter(error, signal);
      this.#queue.putBack(batch);
    } finally {
      this.#progress = undefined;
    }
  }

  async #waitAfter(failure: unknown, signal: AbortSignal): Promise<void> {
    this.#problem = failure;
    this.#progress = undefined;
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
    const { home, workerProgram, selector, energy, openModel, overlays } = this.#options;
    const { signal } = this.#end;
    const root = await realpath(this.folder.path).catch((cause: unknown) => {
      throw new AppError('missing', `The folder ${this.folder.path} does not exist. Check the path.`, { cause });
    });
    this.#root = root;
    const index = await Index.open({ root, home, workerProgram });
    this.#index = index;
    if (signal.aborted) index[Symbol.dispose]();
    for (const [path, text] of overlays) {
      const inside = this.pathOf(path);
      if (inside !== undefined) index.setOverlay(inside, text);
    }
    void this.#followWriter(index);
    if (openModel !== undefined && !signal.aborted) {
      const onDidChange = (): void => this.#changed.fire();
      this.#semantic = new SemanticIndex({
        root,
        home,
        energy,
        openModel,
        sources: () => index.sources(),
        onDidChange,
      });
    }
    return new IndexUpdater(index, root, this.folder, selector);
  }

  /** Applies what another process writes to the index, and takes over when that process stops. */
  async #followWriter(index: Index): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await sleep(REFRESH_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted || this.#isPaused || index.isWriter) continue;
      if (await index.refresh()) this.#queue.addAll(); // files may have changed unnoticed
      this.#changed.fire();
    }
  }

  /** Reads past commits in the background, and again if the folder has changed meanwhile. Without permission, those that are stored are forgotten. */
  async #readHistory(): Promise<void> {
    const { isTrusted, usesHistory = false } = this.folder;
    const { readCommits } = this.#options;
    const { signal } = this.#end;
    this.#isReadingHistory = true;
    while (this.#isHistoryDue && this.#index !== undefined && !signal.aborted) {
      this.#isHistoryDue = false;
      const { history, isWriter: isStored } = this.#index;
      const isUsed = readCommits !== undefined && isTrusted && usesHistory;
      const updated = isUsed ? history.update(readCommits, { signal, isStored }) : history.clear({ isStored });
      // If git hangs or the disk is full, listing or storing the files fails too, and the folder's status reports that.
      await updated.catch(() => {});
    }
    this.#isReadingHistory = false;
    this.#changed.fire();
  }

  /** Allows another window to write the index. */
  async #rest(): Promise<void> {
    this.#changed.fire();
    await this.#open().catch(() => {}); // tried again, and reported, after the pause
    await this.#index?.releaseLock();
    await this.#resumed.promise;
    if (!this.#end.signal.aborted) await this.#index?.refresh().catch(() => false);
  }

  get #isIdle(): boolean {
    return this.#queue.isIdle && !this.#isReadingHistory;
  }

  /** Whether nothing can be indexed now. */
  get #isStopped(): boolean {
    return this.#isPaused || this.#isHeldBack || this.#problem !== undefined;
  }

  #state(hasProblem: boolean): FolderState {
    if (this.#isPaused) return 'paused';
    if (this.#isHeldBack) return 'waiting';
    if (hasProblem) return 'error';
    return this.#isBuilding ? 'building' : 'ready';
  }
}

/** A failure as shown in the status of a folder. */
function describe(error: unknown): NonNullable<FolderStatus['problem']> {
  return { code: error instanceof AppError ? error.code : 'failed', message: messageOf(error) };
}
