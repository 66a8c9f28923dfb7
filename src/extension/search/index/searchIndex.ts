import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AppError, isAbort } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { type Disposable, Emitter } from '../../../core/processes/lifetime.ts';
import { RemoteCaller } from '../../../core/processes/workerRpc.ts';
import type {
  FileChange,
  FolderStatus,
  IndexService,
  OpenFolder,
  RelatedRequest,
  SearchRequest,
  ServiceHit,
} from '../../../retrieval/live/indexService.ts';
import type { FolderIndexWorkerData, FolderIndexWorkerService } from '../../threads/folderIndexWorker.ts';

// The pause after a crash, so that a folder that always crashes the thread does not use up a processor.
const RESTART_MS = 10_000;

// Indexing a large folder creates much short-lived garbage, and an idle thread does not collect it. With the default limit, 100 MB more
// remained after indexing the Linux sources.
const LIMITS = { maxYoungGenerationSizeMb: 16 };

export interface SearchIndexOptions extends FolderIndexWorkerData {
  /** The built `folderIndexWorker`. */
  readonly program: string;
  /** The folders to keep indexed, as they are now. */
  readonly folders: () => readonly OpenFolder[];
  readonly isPaused: boolean;
  readonly log: Logger;
}

/**
 * The index of the window's folders. Its thread starts on first use and restarts after a crash. The state of the window (folders,
 * unsaved files, paused or not) is stored here, so that it can be sent to a thread that starts later or restarts.
 */
export class SearchIndex implements Disposable {
  readonly #caller: RemoteCaller<FolderIndexWorkerService>;
  readonly #index: IndexService;
  readonly #folders: () => readonly OpenFolder[];
  readonly #log: Logger;
  readonly #changed = new Emitter<void>();
  readonly #end = new AbortController();
  readonly #overlays = new Map<string, string>();
  #worker: Worker | undefined;
  #opened: Promise<void> | undefined;
  #following: Promise<void> | undefined;
  #status: readonly FolderStatus[] = [];
  #isPaused: boolean;
  #isSavingEnergy = false;
  /** The status of a folder changed, or the index was paused or resumed. */
  readonly onDidChange = this.#changed.event;

  constructor({ program, folders, isPaused, log, ...data }: SearchIndexOptions) {
    this.#folders = folders;
    this.#isPaused = isPaused;
    this.#log = log;
    this.#caller = new RemoteCaller<FolderIndexWorkerService>((onLost) => {
      const worker = new Worker(program, { workerData: data, name: 'farwharf-folders', resourceLimits: LIMITS });
      const lose = (cause?: unknown): void =>
        onLost(new AppError('unreachable', 'The search index stopped. It restarts automatically.', { cause }));
      worker.on('error', lose);
      worker.on('exit', () => lose());
      this.#worker = worker;
      return worker;
    });
    this.#index = this.#caller.service.index;
  }

  /** The last reported status of each folder; empty before the start. */
  get status(): readonly FolderStatus[] {
    return this.#status;
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
    if (this.isStarted) await this.#openFolders();
  }

  async notify(changes: readonly FileChange[]): Promise<void> {
    if (this.isStarted && changes.length > 0) await this.#index.notify(changes);
  }

  /** Sets the text of an unsaved file, or undefined once it is the same as on disk. */
  async setOverlay(path: string, text: string | undefined): Promise<void> {
    const wasKnown = this.#overlays.has(path);
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, text);
    if (this.isStarted && (text !== undefined || wasKnown)) await this.#index.setOverlay(path, text);
  }

  async search(query: string, request: SearchRequest): Promise<readonly ServiceHit[]> {
    await this.start();
    return this.#index.search(query, request);
  }

  async related(text: string, request: RelatedRequest): Promise<readonly ServiceHit[]> {
    await this.start();
    return this.#index.related(text, request);
  }

  /** Resuming also continues work that was paused on battery. */
  async setPaused(isPaused: boolean): Promise<void> {
    this.#isPaused = isPaused;
    if (!isPaused) this.#isSavingEnergy = false;
    if (this.isStarted) await (isPaused ? this.#index.pause() : this.#index.resume());
    this.#changed.fire();
  }

  /** Pauses or resumes large work, for machines on battery. */
  async setSavingEnergy(isSaving: boolean): Promise<void> {
    this.#isSavingEnergy = isSaving;
    if (this.isStarted) await this.#index.saveEnergy(isSaving);
  }

  async rebuild(): Promise<void> {
    await this.start();
    await this.#index.rebuild();
  }

  /** Reads the choice of the embedding model again. */
  async reloadEmbeddingModel(): Promise<void> {
    await this.start();
    await this.#index.reloadEmbeddingModel();
  }

  async skipped(folder: string, limit: number): ReturnType<IndexService['skipped']> {
    return this.#index.skipped(folder, { limit });
  }

  /** Resolves once all changes reported so far can be found. */
  async settle(): Promise<void> {
    await this.start();
    await this.#index.settle();
  }

  /** Stops the thread. */
  dispose(): void {
    this.#end.abort();
    this.#caller.dispose();
    this.#changed.dispose();
    void this.#worker?.terminate();
  }

  async #open(): Promise<void> {
    try {
      await this.#openFolders();
    } catch (error) {
      this.#opened = undefined; // the next use tries again
      throw error;
    }
  }

  async #openFolders(): Promise<void> {
    const folders = this.#folders();
    if (folders.length === 0 && this.#following === undefined) return;
    if (this.#isSavingEnergy) await this.#index.saveEnergy(true); // before the folders are read
    await this.#index.open(folders);
    // A paused index opens what is stored and reads no files.
    if (this.#isPaused) await this.#index.pause();
    for (const [path, text] of this.#overlays) await this.#index.setOverlay(path, text);
    this.#following ??= this.#follow();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    const onStatus = (status: readonly FolderStatus[]): void => {
      this.#status = status;
      this.#changed.fire();
    };
    while (!signal.aborted) {
      try {
        await this.#index.follow(onStatus, { signal });
      } catch (error) {
        if (signal.aborted || isAbort(error)) return;
        this.#log.error('the index thread failed', { error });
        await sleep(RESTART_MS, undefined, { signal }).catch(() => {});
        if (!signal.aborted) await this.#openFolders().catch(() => {}); // the next iteration reports it
      }
    }
  }
}
