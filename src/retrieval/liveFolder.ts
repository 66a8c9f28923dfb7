import { relative } from 'node:path';
import { messageOf } from '../core/errors.ts';
import type { Disposable } from '../core/lifetime.ts';
import type { SelectFiles } from './fileSelector.ts';
import { FolderIndex, type FolderIndexOptions } from './folderIndex.ts';
import type { FileChange, FolderState, FolderStatus, OpenFolder, PassedOver, ServiceHit } from './indexService.ts';

type LiveFolderOptions = Omit<FolderIndexOptions, 'root'> & { readonly select: SelectFiles };

/** One open folder: its index, and what is still to be taken in. */
export class LiveFolder implements Disposable {
  readonly folder: OpenFolder;
  readonly #root: string;
  readonly #select: SelectFiles;
  readonly #index: Promise<FolderIndex>;
  readonly #end = new AbortController();
  #opened: FolderIndex | undefined;
  #state: FolderState = 'building';
  #problem: FolderStatus['problem'];
  #progress: FolderStatus['progress'];
  #excluded: readonly PassedOver[] = [];
  #updatedAt: number | undefined;
  #work: Promise<void>;

  constructor(folder: OpenFolder, root: string, { home, workerProgram, select }: LiveFolderOptions) {
    this.folder = folder;
    this.#root = root;
    this.#select = select;
    this.#index = FolderIndex.open({ root, home, workerProgram });
    this.#work = this.#reconcile();
  }

  get status(): FolderStatus {
    const { files = 0, chunks = 0, passedOver = {} } = this.#opened?.stats ?? {};
    const unread = Object.values(passedOver).reduce((sum, count) => sum + count, 0);
    return {
      folder: this.folder.path,
      state: this.#state,
      files,
      chunks,
      bytes: 0,
      passedOver: unread + this.#excluded.length,
      pending: 0,
      progress: this.#progress,
      updatedAt: this.#updatedAt,
      isWriter: this.#opened?.isWriter ?? false,
      problem: this.#problem,
    };
  }

  get passedOver(): readonly PassedOver[] {
    return this.#excluded;
  }

  notify(changes: readonly FileChange[]): void {
    for (const { path } of changes) {
      this.#work = this.#work
        .then(async () => (await this.#index).update([relative(this.#root, path)]))
        .catch(() => {});
    }
  }

  setOverlay(_path: string, _text: string | undefined): void {}

  async search(query: string, limit: number): Promise<readonly ServiceHit[]> {
    const hits = (await this.#opened?.search(query, limit)) ?? [];
    return hits.map((hit) => ({ ...hit, folder: this.folder.path }));
  }

  pause(): void {
    this.#state = 'paused';
  }

  resume(): void {
    this.rebuild();
  }

  rebuild(): void {
    this.#work = this.#work.then(() => this.#reconcile());
  }

  settle(): Promise<void> {
    return this.#work;
  }

  dispose(): void {
    this.#end.abort();
    this.#opened?.[Symbol.dispose]();
  }

  async #reconcile(): Promise<void> {
    const { signal } = this.#end;
    this.#state = 'building';
    try {
      this.#opened = await this.#index;
      const { files, excluded } = await this.#select({ ...this.folder, path: this.#root }, { signal });
      this.#excluded = excluded;
      const onProgress = (doneBytes: number, totalBytes: number): void => {
        this.#progress = { doneBytes, totalBytes };
      };
      await this.#opened.sync(files, { signal, onProgress });
      this.#updatedAt = Date.now();
      this.#state = 'ready';
    } catch (error) {
      this.#state = 'error';
      this.#problem = { code: 'corrupt', message: messageOf(error) };
    } finally {
      this.#progress = undefined;
    }
  }
}
