import type { AppError } from '../../core/errors.ts';
import { FolderContent, type IndexStats, type SyncOptions, type SyncSummary } from './folderContent.ts';
import { type FolderHit, searchFolder } from './folderSearch.ts';
import { type IndexedFile, indexText, type ListedFile } from '../building/indexedFile.ts';
import { indexFolder, IndexStore } from '../store/indexStore.ts';
import { type SizedTask, workOf } from '../building/parallelBuild.ts';
import { parseQuery, type Query } from '../search/query.ts';
import { RecentFiles } from './recentFiles.ts';
import type { SegmentSource } from '../segments/segment.ts';
import type { Match } from '../search/segmentSet.ts';
import { type TermQuery, toTermQuery } from '../search/termQuery.ts';
import type { ChunkPlace } from '../semantic/meaning.ts';
import { SerialQueue } from '../store/serialQueue.ts';
import { WordAnalyzer } from '../tokenizer/words.ts';

// Reading as much holds everybody up for a few milliseconds; more is read bit by bit or by threads.
const AT_ONCE_BYTES = 200_000;

export interface FolderIndexOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the threads that build; without it everything is built in this one. */
  readonly workerProgram?: string | undefined;
}

/**
 * The index of a folder, kept in FARWHARF_HOME. The caller decides which files belong to it; it holds no text, which is read
 * from the files that were found. It is never wrong about a file that it shows: one that has changed is indexed anew first.
 *
 * What is taken in is found at once. Writing it follows, in the order in which it was taken in; a failure to write is no
 * failure of what was asked for, and is told by `problem`.
 */
export class FolderIndex implements Disposable {
  readonly #options: FolderIndexOptions;
  readonly #store: IndexStore;
  readonly #analyzer = new WordAnalyzer();
  readonly #recent: RecentFiles;
  readonly #overlays = new Map<string, IndexedFile>();
  readonly #end = new AbortController();
  #content: FolderContent;
  /** What takes its time comes one after the other. */
  readonly #turns = new SerialQueue();
  readonly #writes = new SerialQueue();
  /** Of a process that does not write: paths of which it may know more than the writer has written. */
  readonly #own = new Set<string>();

  private constructor(options: FolderIndexOptions, store: IndexStore, content: FolderContent) {
    this.#options = options;
    this.#recent = new RecentFiles(options.root);
    this.#store = store;
    this.#content = content;
  }

  /**
   * Opens the index as it was left; an empty one where there is none or it is damaged. Where another process writes it, or it
   * cannot be written, changes are seen by this one alone.
   */
  static async open(options: FolderIndexOptions): Promise<FolderIndex> {
    const store = IndexStore.open(indexFolder(options.home, options.root), options.root);
    return new FolderIndex(options, store, new FolderContent(options.root, await store.read()));
  }

  /** Whether changes are kept; false while another process writes this index. */
  get isWriter(): boolean {
    return this.#store.isWriter;
  }

  /** Why it could not be written, until it can. */
  get problem(): AppError | undefined {
    return this.#store.problem;
  }

  get stats(): IndexStats {
    return this.#content.stats;
  }

  /** Bytes of the index on disk. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /** What is known of a file; undefined for one that does not belong to the index. */
  source(path: string): SegmentSource | undefined {
    return this.#content.set.source(path);
  }

  sources(): Iterable<SegmentSource> {
    return this.#content.set.sources();
  }

  /** Whether a file is as it was when it was indexed, by its size and time. */
  isAsKnown(file: ListedFile): boolean {
    return this.#content.isAsKnown(file);
  }

  /**
   * Makes the index that of exactly these files. Files whose size and time are as they were are not read; those that are read
   * and have the same bytes are not indexed again.
   *
   * @throws the signal's reason on abort, with what was read until then in the index.
   */
  sync(files: readonly ListedFile[], options: SyncOptions = {}): Promise<SyncSummary> {
    return this.#turns.run(() => this.#sync(files, options));
  }

  /** Reads those of some files that are not as they were. @throws the signal's reason on abort, with the rest not read. */
  async take(files: readonly ListedFile[], options: SyncOptions = {}): Promise<void> {
    const tasks = this.#tasksOf(files);
    if (workOf(tasks) < AT_ONCE_BYTES) await this.update(tasks.map(({ path }) => path));
    else await this.#turns.run(() => this.#build(tasks, options));
  }

  /** Reads files again, or takes out those that are not there any more. They are found at once; resolves when that is kept. */
  update(paths: readonly string[]): Promise<void> {
    this.#read(paths);
    return this.#write();
  }

  /** Takes files out, wherever they are. */
  remove(paths: readonly string[]): Promise<void> {
    this.#content.remove(paths);
    return this.#write();
  }

  /** Forgets everything, so that it is built anew; what another process writes is read again. */
  clear(): Promise<void> {
    return this.#turns.run(async () => {
      const stored = this.isWriter ? undefined : await this.#store.read();
      this.#replaceContent(new FolderContent(this.#options.root, stored));
      await this.#write();
    });
  }

  /** Searches a file as this text instead of as it is on disk, or as on disk again. It must belong to the index to be found. */
  setOverlay(path: string, text: string | undefined): void {
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, indexText(path, text));
    this.#content.show(path, this.#overlays.get(path));
  }

  /**
   * Takes in what another process has written, and becomes the writer when there is none. Gives whether it became that; then
   * files may have changed that nobody saw.
   */
  refresh(): Promise<boolean> {
    return this.#turns.run(async () => {
      if (this.isWriter) return false;
      const isNewWriter = this.#store.takeLock();
      const { isNew, entries } = isNewWriter ? { isNew: true, entries: [] } : await this.#store.readNews();
      if (isNew) this.#replaceContent(new FolderContent(this.#options.root, await this.#store.read()));
      for (const entry of entries) this.#content.replay(entry);
      if (isNew || entries.length > 0) this.#read([...this.#own]);
      if (isNewWriter) await this.#write();
      return isNewWriter;
    });
  }

  /** Lets another process write the index; `refresh` makes this one the writer again. */
  letGo(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#write();
      this.#store.releaseLock();
    });
  }

  /**
   * The best `limit` chunks, best first, with their text as it is in the files now. A string is read as a person types it. `near` is
   * another ranking of the same query, by meaning: then both count alike, and scores are those of the two together.
   */
  async search(query: Query | string, limit: number, near: readonly ChunkPlace[] = []): Promise<readonly FolderHit[]> {
    const parsed = typeof query === 'string' ? parseQuery(query) : query;
    return searchFolder(parsed, toTermQuery(parsed, this.#analyzer), { limit, near }, this);
  }

  /** The best documents of the index, which the files may not agree with any more. */
  match(query: TermQuery, limit: number): readonly Match[] {
    return this.#content.set.search(query, limit);
  }

  /** A file as it is on screen, or else on disk. */
  fileAt(path: string): IndexedFile | undefined {
    return this.#overlays.get(path) ?? this.#recent.read(path);
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#store.dispose();
  }

  async #sync(files: readonly ListedFile[], options: SyncOptions): Promise<SyncSummary> {
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
  }

  #tasksOf(files: readonly ListedFile[]): SizedTask[] {
    return files
      .filter((file) => !this.isAsKnown(file))
      .map(({ path, size }) => ({ path, size, knownHash: this.source(path)?.hash }));
  }

  /** Gives the number of files that turned out to be the same. */
  async #build(tasks: readonly SizedTask[], options: SyncOptions): Promise<number> {
    const onBatch = (): void => void this.#write();
    try {
      return await this.#content.build(tasks, { ...options, ...this.#threads, onBatch });
    } finally {
      await this.#write();
    }
  }

  #read(paths: readonly string[]): void {
    if (paths.length === 0) return;
    this.#content.read(paths);
    if (!this.isWriter) for (const path of paths) this.#own.add(path);
  }

  readonly #write = (): Promise<void> => this.#writes.run(() => this.#writeNow());

  async #writeNow(): Promise<void> {
    await this.#store.write(this.#content, this.#content.takeEntries());
    if (this.isWriter && this.problem === undefined) this.#own.clear();
    // What fails is tried again after the next change.
    this.#content.compact({ ...this.#threads, keep: this.#write, signal: this.#end.signal }).catch(() => {});
  }

  /** What threads need that build or merge: only what the writer has on disk can be handed over. */
  get #threads() {
    const program = this.isWriter ? this.#options.workerProgram : undefined;
    return { program, nextFile: (): string => this.#store.nextFile() };
  }

  #replaceContent(content: FolderContent): void {
    this.#content = content;
    for (const [path, file] of this.#overlays) content.show(path, file);
  }
}
