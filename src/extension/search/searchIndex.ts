import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/log.ts';
import { isAbort } from '../../core/errors.ts';
import { type Disposable, Emitter } from '../../core/lifetime.ts';
import type {
  FileChange,
  FolderStatus,
  IndexService,
  OpenFolder,
  RelatedRequest,
  SearchRequest,
  ServiceHit,
} from '../../retrieval/indexService.ts';

// A thread that fails each time must not take a processor for it.
const RESTART_DELAYS_MS = [500, 5_000, 60_000];

export interface SearchIndexOptions {
  /** The service in its thread; a call after a crash starts another thread. */
  readonly service: IndexService;
  /** The folders to keep indexed, as they are now. */
  readonly folders: () => readonly OpenFolder[];
  readonly log: Logger;
  /** Aborts when the window closes. */
  readonly signal: AbortSignal;
  readonly isPaused: boolean;
}

/**
 * The index of the window's folders, as this thread sees it. The service starts at the first use and holds what this one knows of
 * the window: its folders, its unsaved files and whether it is paused, told again to a new thread after a crash.
 */
export class SearchIndex implements Disposable {
  readonly #options: SearchIndexOptions;
  readonly #changed = new Emitter<void>();
  readonly #overlays = new Map<string, string>();
  #status: readonly FolderStatus[] = [];
  #running: Promise<void> | undefined;
  #opened: Promise<void> = Promise.resolve();
  #isPaused: boolean;
  /** The status of a folder changed. */
  readonly onDidChange = this.#changed.event;

  constructor(options: SearchIndexOptions) {
    this.#options = options;
    this.#isPaused = options.isPaused;
  }

  /** What was last heard of each folder, in the window's order; nothing before the start. */
  get status(): readonly FolderStatus[] {
    return this.#status;
  }

  get isStarted(): boolean {
    return this.#running !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Starts the indexing behind the window's work; further calls change nothing. */
  start(): void {
    this.#running ??= this.#keepRunning();
  }

  /** Tells the service which folders are open now, where it runs. */
  async updateFolders(): Promise<void> {
    if (!this.isStarted) return;
    await this.#options.service.open(this.#options.folders());
  }

  async notify(changes: readonly FileChange[]): Promise<void> {
    if (this.isStarted && changes.length > 0) await this.#options.service.notify(changes);
  }

  /** The text of an unsaved file, or undefined when it is as on disk again. */
  async setOverlay(path: string, text: string | undefined): Promise<void> {
    const isKnown = this.#overlays.has(path);
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, text);
    if (this.isStarted && (text !== undefined || isKnown)) await this.#options.service.setOverlay(path, text);
  }

  async search(query: string, request: SearchRequest): Promise<readonly ServiceHit[]> {
    await this.#ready();
    return this.#options.service.search(query, request);
  }

  async related(text: string, request: RelatedRequest): Promise<readonly ServiceHit[]> {
    await this.#ready();
    return this.#options.service.related(text, request);
  }

  async setPaused(isPaused: boolean): Promise<void> {
    this.#isPaused = isPaused;
    if (this.isStarted) await (isPaused ? this.#options.service.pause() : this.#options.service.resume());
    this.#changed.fire();
  }

  async rebuild(): Promise<void> {
    await this.#ready();
    await this.#options.service.rebuild();
  }

  passedOver(folder: string, limit: number): ReturnType<IndexService['passedOver']> {
    return this.#options.service.passedOver(folder, { limit });
  }

  /** Resolves when what was notified before can be found. */
  async settle(): Promise<void> {
    await this.#ready();
    await this.#options.service.settle();
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Folders are open, though not indexed yet. */
  async #ready(): Promise<void> {
    this.start();
    await this.#opened;
  }

  async #keepRunning(): Promise<void> {
    const { service, log, signal } = this.#options;
    for (let failures = 0; ; failures += 1) {
      try {
        this.#opened = this.#open();
        await this.#opened;
        await service.follow((status) => this.#show(status), { signal });
        return; // the window closes
      } catch (error) {
        if (signal.aborted || isAbort(error)) return;
        log.error('the index stopped', { error, failures });
        const delay = RESTART_DELAYS_MS[Math.min(failures, RESTART_DELAYS_MS.length - 1)];
        await sleep(delay, undefined, { signal, ref: false }).catch(() => {}); // the next turn sees the abort
      }
    }
  }

  async #open(): Promise<void> {
    const { service, folders } = this.#options;
    if (this.#isPaused) await service.pause();
    await service.open(folders());
    for (const [path, text] of this.#overlays) await service.setOverlay(path, text);
  }

  #show(status: readonly FolderStatus[]): void {
    this.#status = status;
    this.#changed.fire();
  }
}
