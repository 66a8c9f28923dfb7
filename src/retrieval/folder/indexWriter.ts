import type { AppError } from '../../core/errors.ts';
import type { FolderContent } from './folderContent.ts';
import type { IndexStore } from '../store/indexStore.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';

export interface IndexWriterOptions {
  readonly store: IndexStore;
  /** The program of the threads that build and merge segments; if undefined, this thread does. */
  readonly program: string | undefined;
  /** The current content of the index. */
  readonly content: () => FolderContent;
}

/** Stores the changes of a folder's index one after the other, and merges segments afterwards. */
export class IndexWriter implements Disposable {
  readonly #options: IndexWriterOptions;
  readonly #queue = new SerialQueue();
  readonly #end = new AbortController();
  /** In a process that does not write: paths for which it may have newer contents than the writer. */
  readonly #ahead = new Set<string>();

  constructor(options: IndexWriterOptions) {
    this.#options = options;
  }

  /** Whether changes are stored; false while another process writes this index. */
  get isWriter(): boolean {
    return this.#options.store.isWriter;
  }

  /** Why the index cannot be written; undefined once it can. */
  get problem(): AppError | undefined {
    return this.#options.store.problem;
  }

  /** What build and merge threads need. Only files that the writer has stored can be passed to them. */
  get threads(): { readonly program: string | undefined; readonly nextFile: () => string } {
    const { store, program } = this.#options;
    return { program: this.isWriter ? program : undefined, nextFile: () => store.nextFile() };
  }

  /** Paths that this process has indexed and that the writer may not have stored yet. */
  get ahead(): readonly string[] {
    return [...this.#ahead];
  }

  /** Remembers which paths this process has read. */
  noteRead(paths: readonly string[]): void {
    if (!this.isWriter) for (const path of paths) this.#ahead.add(path);
  }

  /** Stores all changes so far. A failure does not reject; `problem` describes it. */
  readonly write = (): Promise<void> => this.#queue.run(() => this.#writeNow());

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#options.store.dispose();
  }

  async #writeNow(): Promise<void> {
    const { store } = this.#options;
    const content = this.#options.content();
    await store.write(content, content.takeEntries());
    if (this.isWriter && this.problem === undefined) this.#ahead.clear();
    // A failed merge is tried again after the next change.
    content.compact({ ...this.threads, keep: this.write, signal: this.#end.signal }).catch(() => {});
  }
}
