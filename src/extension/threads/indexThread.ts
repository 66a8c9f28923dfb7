import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AppError, isAbort } from '../../core/errors.ts';
import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import { RemoteCaller } from '../../core/processes/workerRpc.ts';
import type { FolderStatus, IndexService, OpenFolder } from '../../retrieval/folder/indexService.ts';
import type { FolderIndexWorkerData, FolderIndexWorkerService } from './folderIndexWorker.ts';

// The pause after a crash, so that a folder that always crashes the thread does not use up a processor.
const RESTART_MS = 10_000;

// Indexing a large folder creates much short-lived garbage, and an idle thread does not collect it. With the default limit, 100 MB more
// remained after indexing the Linux sources.
const LIMITS = { maxYoungGenerationSizeMb: 16 };

export interface IndexThreadOptions extends FolderIndexWorkerData {
  /** The built `folderIndexWorker`. */
  readonly program: string;
  readonly log: Logger;
}

/** The thread with the indexes of the open folders. It starts with the first folder and restarts after a crash. */
export class IndexThread implements Disposable {
  readonly index: IndexService;
  readonly #caller: RemoteCaller<FolderIndexWorkerService>;
  readonly #log: Logger;
  readonly #end = new AbortController();
  readonly #changed = new Emitter<readonly FolderStatus[]>();
  readonly #restarted = new Emitter<void>();
  readonly onDidChangeStatus = this.#changed.event;
  /** The thread has restarted with the same folders; everything else must be sent to it again. */
  readonly onDidRestart = this.#restarted.event;
  #worker: Worker | undefined;
  #folders: readonly OpenFolder[] = [];
  #following: Promise<void> | undefined;
  #status: readonly FolderStatus[] = [];

  constructor({ program, log, ...data }: IndexThreadOptions) {
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
    this.index = this.#caller.service.index;
  }

  /** The last reported status. */
  get status(): readonly FolderStatus[] {
    return this.#status;
  }

  /** Keeps exactly these folders up to date from now on, also after a restart of the thread. */
  async open(folders: readonly OpenFolder[]): Promise<void> {
    this.#folders = folders;
    if (folders.length === 0 && this.#following === undefined) return;
    await this.index.open(folders);
    this.#following ??= this.#follow();
  }

  /** Stops the thread. */
  dispose(): void {
    this.#end.abort();
    this.#caller.dispose();
    this.#changed.dispose();
    this.#restarted.dispose();
    void this.#worker?.terminate();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end;
    const onStatus = (status: readonly FolderStatus[]): void => {
      this.#status = status;
      this.#changed.fire(status);
    };
    while (!signal.aborted) {
      try {
        await this.index.follow(onStatus, { signal });
      } catch (error) {
        if (signal.aborted || isAbort(error)) return;
        this.#log.error('the index thread failed', { error });
        await sleep(RESTART_MS, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        await this.index.open(this.#folders).catch(() => {}); // the next iteration reports it
        this.#restarted.fire();
      }
    }
  }
}
