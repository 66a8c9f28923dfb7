import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Disposable } from '../core/lifetime.ts';
import type {
  FileChange,
  FolderStatus,
  IndexService,
  OpenFolder,
  PassedOver,
  RelatedRequest,
  SearchRequest,
  ServiceHit,
} from './indexService.ts';
import type { SelectFiles } from './fileSelector.ts';
import { LiveFolder } from './liveFolder.ts';

export interface LiveIndexOptions {
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the threads that build. */
  readonly workerProgram: string;
  readonly select: SelectFiles;
}

const STATUS_EVERY_MS = 250;

/** The indexes of the open folders, in the thread that they live in. */
export class LiveIndex implements IndexService, Disposable {
  readonly #options: LiveIndexOptions;
  #folders = new Map<string, LiveFolder>();

  constructor(options: LiveIndexOptions) {
    this.#options = options;
  }

  async open(folders: readonly OpenFolder[]): Promise<void> {
    const before = this.#folders;
    this.#folders = new Map();
    for (const folder of folders) {
      const live = before.get(folder.path) ?? new LiveFolder(folder, await realpath(folder.path), this.#options);
      this.#folders.set(folder.path, live);
      before.delete(folder.path);
    }
    for (const gone of before.values()) gone.dispose();
  }

  async notify(changes: readonly FileChange[]): Promise<void> {
    for (const live of this.#folders.values()) live.notify(changes);
  }

  async setOverlay(path: string, text: string | undefined): Promise<void> {
    for (const live of this.#folders.values()) live.setOverlay(path, text);
  }

  async search(query: string, { limit, folders }: SearchRequest): Promise<readonly ServiceHit[]> {
    const chosen = [...this.#folders.values()].filter(({ folder }) => folders?.includes(folder.path) ?? true);
    const hits = await Promise.all(chosen.map((live) => live.search(query, limit)));
    return hits
      .flat()
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  related(text: string, request: RelatedRequest): Promise<readonly ServiceHit[]> {
    return this.search(text, request);
  }

  async status(): Promise<readonly FolderStatus[]> {
    return [...this.#folders.values()].map(({ status }) => status);
  }

  async follow(
    onStatus: (status: readonly FolderStatus[]) => void,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    for (let last = ''; !signal.aborted; ) {
      const status = await this.status();
      const text = JSON.stringify(status);
      if (text !== last) onStatus(status);
      last = text;
      await sleep(STATUS_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  async pause(): Promise<void> {
    for (const live of this.#folders.values()) live.pause();
  }

  async resume(): Promise<void> {
    for (const live of this.#folders.values()) live.resume();
  }

  async rebuild(folders?: readonly string[]): Promise<void> {
    for (const [path, live] of this.#folders) if (folders?.includes(path) ?? true) live.rebuild();
  }

  async passedOver(
    folder: string,
    { limit }: { readonly limit: number },
  ): Promise<{ readonly total: number; readonly items: readonly PassedOver[] }> {
    const items = this.#folders.get(folder)?.passedOver ?? [];
    return { total: items.length, items: items.slice(0, limit) };
  }

  async settle(): Promise<void> {
    await Promise.all([...this.#folders.values()].map((live) => live.settle()));
  }

  dispose(): void {
    for (const live of this.#folders.values()) live.dispose();
  }
}
