import type { AppError } from '../../core/errors.ts';
import { FolderContent, type IndexStats, type SyncOptions, type SyncSummary } from './folderContent.ts';
import type { FolderHit, FolderSearchOptions } from './folderSearch.ts';
import { ForgivingSearch } from './forgivingSearch.ts';
import { type IndexedFile, indexText, type ListedFile } from '../building/indexedFile.ts';
import { indexFolder, IndexStore } from '../store/indexStore.ts';
import { type SizedTask, workOf } from '../building/parallelBuild.ts';
import { PathAnalyzer } from '../ranking/pathTerms.ts';
import { parseQuery, type Query } from '../search/query.ts';
import { FolderHistory } from '../history/folderHistory.ts';
import { IndexWriter } from './indexWriter.ts';
import { RecentFiles } from './recentFiles.ts';
import type { SegmentSource } from '../segments/segment.ts';
import type { SegmentSet } from '../search/segmentSet.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';
import { WordAnalyzer } from '../tokenizer/words.ts';

// Reading this much blocks for a few milliseconds; more is read in steps or by threads.
const AT_ONCE_BYTES = 200_000;

export interface FolderIndexOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the build threads; if undefined, segments are built in this thread. */
  readonly workerProgram?: string | undefined;
}

/**
 * The index of a folder, stored in FARWHARF_HOME. The caller decides which files it contains. It stores terms, not text: the text of
 * results is read from the files. Results are never outdated, because a file that has changed is indexed again before it is shown.
 *
 * Changes can be searched at once and are written afterwards, in order. A failure to write does not reject the call; `problem`
 * describes it.
 */
export class FolderIndex implements Disposable {
  readonly #options: FolderIndexOptions;
  readonly #store: IndexStore;
  readonly #analyzer = new WordAnalyzer();
  readonly paths = new PathAnalyzer(this.#analyzer);
  readonly #searches = new ForgivingSearch(this, this.#analyzer);
  /** Past commits, which are evidence for the ranking. The caller decides whether there are any. */
  readonly history: FolderHistory;
  readonly #recent: RecentFiles;
  readonly #overlays = new Map<string, IndexedFile>();
  readonly #writer: IndexWriter;
  #content: FolderContent;
  /** Long operations run one after the other. */
  readonly #turns = new SerialQueue();

  private constructor(
    options: FolderIndexOptions,
    { store, content, history }: { store: IndexStore; content: FolderContent; history: FolderHistory },
  ) {
    this.#options = options;
    this.history = history;
    this.#recent = new RecentFiles(options.root);
    this.#store = store;
    this.#content = content;
    this.#writer = new IndexWriter({ store, program: options.workerProgram, content: () => this.#content });
  }

  /**
   * Opens the stored index, or an empty one if there is none or it is damaged. If another process writes it, or it cannot be written,
   * changes are visible to this process only.
   */
  static async open(options: FolderIndexOptions): Promise<FolderIndex> {
    const { home, root } = options;
    const folder = indexFolder(home, root);
    const store = IndexStore.open(folder, root);
    const content = new FolderContent(root, await store.read());
    return new FolderIndex(options, { store, content, history: await FolderHistory.open(root, folder) });
  }

  /** Whether changes are stored; false while another process writes this index. */
  get isWriter(): boolean {
    return this.#writer.isWriter;
  }

  /** Why the index cannot be written; undefined once it can. */
  get problem(): AppError | undefined {
    return this.#writer.problem;
  }

  get stats(): IndexStats {
    return this.#content.stats;
  }

  /** Bytes of the index on disk. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /** What the index knows about a file; undefined if it does not contain the file. */
  source(path: string): SegmentSource | undefined {
    return this.#content.set.source(path);
  }

  sources(): Iterable<SegmentSource> {
    return this.#content.set.sources();
  }

  /** Whether a file is unchanged since it was indexed, by its size and time. */
  isAsKnown(file: ListedFile): boolean {
    return this.#content.isAsKnown(file);
  }

  /**
   * Makes the index contain exactly these files. Files with an unchanged size and time are not read; those that are read but have the
   * same bytes are not indexed again.
   *
   * @throws the signal's reason on abort; what was read until then is indexed.
   */
  sync(files: readonly ListedFile[], options: SyncOptions = {}): Promise<SyncSummary> {
    return this.#turns.run(async () => {
      const listed = new Set(files.map(({ path }) => path));
      const removed = [...this.sources()].map(({ path }) => path).filter((path) => !listed.has(path));
      const tasks = this.#tasksOf(files);
      const known = tasks.filter(({ knownHash }) => knownHash !== undefined).length;
      if (removed.length > 0) await this.remove(removed);
      const same = await this.#build(tasks, options);
      return {
        added: tasks.length - known,
        changed: known - same,
        removed: removed.length,
        unchanged: files.length - tasks.length + same,
      };
    });
  }

  /** Reads those files that have changed. @throws the signal's reason on abort; the rest is not read. */
  async take(files: readonly ListedFile[], options: SyncOptions = {}): Promise<void> {
    const tasks = this.#tasksOf(files);
    if (workOf(tasks) < AT_ONCE_BYTES) await this.update(tasks.map(({ path }) => path));
    else await this.#turns.run(() => this.#build(tasks, options));
  }

  /** Reads files again, or removes those that no longer exist. Searches see the change at once; resolves when it is stored. */
  update(paths: readonly string[]): Promise<void> {
    this.#read(paths);
    return this.#writer.write();
  }

  /** Removes files from all segments. */
  remove(paths: readonly string[]): Promise<void> {
    this.#content.remove(paths);
    return this.#writer.write();
  }

  /** Empties the index so that it is built again. What another process has written is read again. */
  clear(): Promise<void> {
    return this.#turns.run(async () => {
      if (this.isWriter) this.#store.renewLock();
      const stored = this.isWriter ? undefined : await this.#store.read();
      this.#replaceContent(new FolderContent(this.#options.root, stored));
      await this.#writer.write();
    });
  }

  /** Makes searches use this text for a file; undefined restores the version on disk. Only files in the index can be found. */
  setOverlay(path: string, text: string | undefined): void {
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, indexText(path, text));
    this.#content.show(path, this.#overlays.get(path));
  }

  /**
   * Applies what another process has written, and becomes the writer if there is none. Returns whether it became the writer; then files
   * may have changed unnoticed.
   */
  refresh(): Promise<boolean> {
    return this.#turns.run(async () => {
      if (this.isWriter) return false;
      const isNewWriter = this.#store.takeLock();
      const { isNew, entries } = isNewWriter ? { isNew: true, entries: [] } : await this.#store.readNews();
      if (isNew) this.#replaceContent(new FolderContent(this.#options.root, await this.#store.read()));
      for (const entry of entries) this.#content.replay(entry);
      if (isNew || entries.length > 0) this.#read(this.#writer.ahead);
      if (isNewWriter) await this.#writer.write();
      return isNewWriter;
    });
  }

  /** Allows another process to write the index; `refresh` makes this one the writer again. */
  releaseLock(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#writer.write();
      this.#store.releaseLock();
    });
  }

  /**
   * The best `limit` files, best first, each with its best chunk in its current text; or the best chunks. A string is parsed as a user's
   * query. With the chunks that are closest to the same query, each gains by how close it is.
   *
   * @throws AppError `corrupt` if a file of the index was damaged or removed; `clear` makes it usable again.
   */
  async search(query: Query | string, limit: number, options: FolderSearchOptions = {}): Promise<readonly FolderHit[]> {
    return this.#searches.search(typeof query === 'string' ? parseQuery(query) : query, limit, options);
  }

  /** The query with its misspelt words corrected, which a search uses; undefined if there are none. */
  correct(query: string, { isTyping = false }: { readonly isTyping?: boolean | undefined } = {}): string | undefined {
    return this.#searches.correct(query, isTyping);
  }

  /** The indexed versions of the files, which may have changed. */
  get set(): SegmentSet {
    return this.#content.set;
  }

  /** The text of a file in the editor, else on disk. */
  fileAt(path: string): IndexedFile | undefined {
    return this.#overlays.get(path) ?? this.#recent.read(path);
  }

  [Symbol.dispose](): void {
    this.#writer[Symbol.dispose]();
  }

  #tasksOf(files: readonly ListedFile[]): SizedTask[] {
    return files
      .filter((file) => !this.isAsKnown(file))
      .map(({ path, size }) => ({ path, size, knownHash: this.source(path)?.hash }));
  }

  /** Returns how many files turned out to be unchanged. */
  async #build(tasks: readonly SizedTask[], options: SyncOptions): Promise<number> {
    const onBatch = (): void => void this.#writer.write();
    try {
      return await this.#content.build(tasks, { ...options, ...this.#writer.threads, onBatch });
    } finally {
      await this.#writer.write();
    }
  }

  #read(paths: readonly string[]): void {
    if (paths.length === 0) return;
    this.#content.read(paths);
    this.#writer.noteRead(paths);
  }

  #replaceContent(content: FolderContent): void {
    this.#content = content;
    for (const [path, file] of this.#overlays) content.show(path, file);
  }
}
