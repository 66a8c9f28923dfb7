import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import { isAbort } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { startProcess } from '../../../core/rpc/rpcProgram.ts';
import { type Disposable, Emitter } from '../../../core/processes/lifetime.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { DiskChange, FolderStatus, WatchedFolder } from '../../../retrieval/server/folderIndex.ts';
import { type Background, startBackground } from '../../threads/background.ts';
import type { FolderIndexWorkerData, FolderIndexWorkerService } from '../../threads/folderIndexWorker.ts';

// The pause after a crash, so that a folder that always crashes the process does not use up a processor.
const RESTART_MS = 10_000;

// A process that starts again lists all files of its folders, which takes a few tenths of a second.
const IDLE_MS = 60_000;

// Indexing a large folder creates much short-lived garbage, and an idle process does not collect it. With the default limit, 100 MB more
// remained after indexing the Linux sources.
const FLAGS = ['--max-semi-space-size=8'];

type Server = RemoteService<FolderIndexWorkerService>['index'];

export interface SearchIndexOptions extends FolderIndexWorkerData {
  /** The built `folderIndexWorker`. */
  readonly program: string;
  /** The folders to keep indexed, as they are now. */
  readonly folders: () => readonly WatchedFolder[];
  readonly isPaused: boolean;
  readonly log: Logger;
  /** Milliseconds after which an idle process stops. */
  readonly idleMs?: number;
}

/**
 * The index of the window's folders. Its process starts on first use, stops when it is idle, starts again with the next change or search,
 * and restarts after a crash. The state of the window (folders, unsaved files, paused or not) is stored here, so that it can be sent to
 * a process that starts later.
 */
export class SearchIndex implements Disposable {
  readonly #background: Background<FolderIndexWorkerService>;
  readonly #server: Server;
  readonly #folders: () => readonly WatchedFolder[];
  readonly #log: Logger;
  readonly #changed = new Emitter<void>();
  readonly #end = new AbortController();
  readonly #overlays = new Map<string, string>();
  #isStarted = false;
  /** The opening of the folders by the process that is running. */
  #opened: Promise<void> | undefined;
  #following: Promise<void> | undefined;
  #status: readonly FolderStatus[] = [];
  #isPaused: boolean;
  #isSavingEnergy = false;
  /** The status of a folder changed, or the index was paused or resumed. */
  readonly onDidChange = this.#changed.event;

  constructor({ program, folders, isPaused, log, idleMs = IDLE_MS, ...data }: SearchIndexOptions) {
    this.#folders = folders;
    this.#isPaused = isPaused;
    this.#log = log;
    this.#background = startBackground<FolderIndexWorkerService>({
      start: () => startProcess(program, data, FLAGS),
      name: 'farwharf-folders',
      log,
      lost: l10n.t('The search index stopped. It restarts automatically.'),
      idle: {
        afterMs: idleMs,
        isNeeded: async ({ index }) => {
          if (await index.isNeeded()) return true;
          this.#show(await index.status()); // stays on screen while the process is stopped
          return false;
        },
        passive: ['isNeeded', 'status'],
        subscriptions: ['follow'],
      },
      onStop: () => {
        this.#opened = undefined;
        this.#following = undefined;
      },
    });
    this.#server = this.#background.service.index;
  }

  /** The last reported status of each folder; empty before the start. */
  get status(): readonly FolderStatus[] {
    return this.#status;
  }

  /** Whether the index is in use, even while its process is stopped. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isRunning(): boolean {
    return this.#background.isRunning;
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
    this.#isStarted = true;
    this.#opened ??= this.#openFolders().catch((error: unknown) => {
      this.#opened = undefined; // the next use tries again
      throw error;
    });
    return this.#opened;
  }

  /** Updates which folders are open. */
  async updateFolders(): Promise<void> {
    if (this.#opened !== undefined) await this.#openFolders();
    else if (this.#isStarted) await this.start();
  }

  async notify(changes: readonly DiskChange[]): Promise<void> {
    if (!this.#isStarted || changes.length === 0) return;
    await this.start(); // a process that starts now finds the changes by itself
    await this.#server.notify(changes);
  }

  /** Sets the text of an unsaved file, or undefined once it is the same as on disk. A process that is stopped gets it when it starts. */
  async setUnsavedText(path: string, text: string | undefined): Promise<void> {
    const wasKnown = this.#overlays.has(path);
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, text);
    if (this.#opened !== undefined && (text !== undefined || wasKnown)) await this.#server.shareUnsavedText(path, text);
  }

  /** Calls the server of the index, which starts if it is not running. */
  async call<T>(request: (server: Server) => Promise<T>): Promise<T> {
    await this.start();
    return request(this.#server);
  }

  /** Resuming also continues work that was paused on battery. */
  async setPaused(isPaused: boolean): Promise<void> {
    this.#isPaused = isPaused;
    if (!isPaused) this.#isSavingEnergy = false;
    if (this.#opened !== undefined) await (isPaused ? this.#server.pause() : this.#server.resume());
    else if (this.#isStarted && !isPaused) await this.start();
    this.#changed.fire();
  }

  /** Pauses or resumes large work, for machines on battery. */
  async setSavingEnergy(isSaving: boolean): Promise<void> {
    this.#isSavingEnergy = isSaving;
    if (this.#opened !== undefined) await this.#server.saveEnergy(isSaving);
  }

  /** Stops the process. */
  dispose(): void {
    this.#end.abort();
    this.#changed.dispose();
    void this.#background.end();
  }

  async #openFolders(): Promise<void> {
    const folders = this.#folders();
    if (folders.length === 0 && this.#following === undefined) {
      this.#show([]);
      return;
    }
    if (this.#isSavingEnergy) await this.#server.saveEnergy(true); // before the folders are read
    await this.#server.open(folders);
    // A paused index opens what is stored and reads no files.
    if (this.#isPaused) await this.#server.pause();
    for (const [path, text] of this.#overlays) await this.#server.shareUnsavedText(path, text);
    this.#following ??= this.#follow();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    try {
      await this.#server.follow((status) => this.#show(status), { signal });
    } catch (error) {
      if (isAbort(error)) return; // the window closes, or the process was idle
      this.#log.error('the index failed', { error });
      await this.#restart(signal);
    }
  }

  #show(status: readonly FolderStatus[]): void {
    this.#status = status;
    this.#changed.fire();
  }

  async #restart(signal: AbortSignal): Promise<void> {
    for (let isOpen = false; !isOpen; ) {
      await sleep(RESTART_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      isOpen = await this.start().then(
        () => true,
        () => false, // the failure is in the log
      );
    }
  }
}
