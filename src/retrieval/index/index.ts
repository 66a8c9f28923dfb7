import { buildFiles, type BuildTask } from './buildSegment.ts';
import { type IndexedFile, indexText, type ListedFile } from './indexedFile.ts';
import { buildBatches, type BuiltBatch, type SizedTask, workOf } from './parallelBuild.ts';
import type { AppError } from '../../core/errors.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';
import { PathAnalyzer } from '../search/pathTerms.ts';
import { parseQuery, type Query } from '../search/query.ts';
import { SegmentSet } from '../search/segmentSet.ts';
import { hasChunks, type Segment, type SegmentSource, type Source, type SourceStatus } from '../segments/segment.ts';
import { SegmentBuilder } from '../segments/segmentBuilder.ts';
import { WordAnalyzer } from '../tokenizer/wordAnalyzer.ts';
import { FolderHistory } from './folderHistory.ts';
import { correctQuery, findHits, type IndexHit, type IndexSearchOptions } from './indexSearch.ts';
import { indexPath, IndexStore, type StoredIndex } from './indexStore.ts';
import type { JournalEntry } from './journal.ts';
import { RecentFiles } from './recentFiles.ts';
import { SegmentCompactor } from './segmentCompactor.ts';

// Reading this much blocks for a few milliseconds; more is read in steps or by threads.
const AT_ONCE_BYTES = 200_000;

export interface IndexOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the build threads; if undefined, segments are built in this thread. */
  readonly workerProgram?: string | undefined;
}

export interface IndexStats {
  readonly files: number;
  readonly chunks: number;
  /** The number of files without chunks, by reason. */
  readonly skipped: Readonly<Partial<Record<SourceStatus, number>>>;
}

export interface SyncOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The result of an update, in files. */
export interface SyncSummary {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/**
 * The index of a folder, stored in FARWHARF_HOME. The caller decides which files it contains. It stores terms, not text: the text of
 * results is read from the files. Results are never outdated, because a file that has changed is indexed again before it is shown.
 *
 * Changes can be searched at once and are written afterwards, in order. A failure to write does not reject the call; `problem`
 * describes it.
 */
export class Index implements Disposable {
  readonly #root: string;
  readonly #program: string | undefined;
  readonly #store: IndexStore;
  readonly analyzer = new WordAnalyzer();
  readonly paths = new PathAnalyzer(this.analyzer);
  /** Past commits, which are evidence for the ranking. The caller decides whether there are any. */
  readonly history: FolderHistory;
  readonly #recent: RecentFiles;
  readonly #overlays = new Map<string, IndexedFile>();
  #segments = new SegmentSet();
  #compactor = new SegmentCompactor(this.#segments);
  /** Times of files that were touched but not changed since they were indexed. */
  #touched = new Map<string, number>();
  /** Changes that are not written yet. */
  #entries: JournalEntry[] = [];
  #stats: IndexStats | undefined;
  /** Paths that were indexed singly during a large build, which may still contain their older versions. */
  #meanwhile: Set<string> | undefined;
  /** In a process that does not write: paths for which it may have newer contents than the writer. */
  readonly #ahead = new Set<string>();
  /** Long operations run one after the other. */
  readonly #turns = new SerialQueue();
  readonly #writes = new SerialQueue();
  readonly #end = new AbortController();

  private constructor(
    { root, workerProgram }: IndexOptions,
    { store, stored, history }: { store: IndexStore; stored: StoredIndex | undefined; history: FolderHistory },
  ) {
    this.#root = root;
    this.#program = workerProgram;
    this.#store = store;
    this.history = history;
    this.#recent = new RecentFiles(root);
    this.#load(stored);
  }

  /**
   * Opens the stored index, or an empty one if there is none or it is damaged. If another process writes it, or it cannot be written,
   * changes are visible to this process only.
   */
  static async open(options: IndexOptions): Promise<Index> {
    const { home, root } = options;
    const folder = indexPath(home, root);
    const store = IndexStore.open(folder, root);
    const stored = await store.read();
    return new Index(options, { store, stored, history: await FolderHistory.open(root, folder) });
  }

  /** Whether changes are stored; false while another process writes this index. */
  get isWriter(): boolean {
    return this.#store.isWriter;
  }

  /** Why the index cannot be written; undefined once it can. */
  get problem(): AppError | undefined {
    return this.#store.problem;
  }

  get stats(): IndexStats {
    // Counting takes milliseconds in a large folder, and the result is needed often.
    this.#stats ??= countSources(this.#segments);
    return this.#stats;
  }

  /** Bytes of the index on disk. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /** The indexed versions of the files, which may have changed. */
  get segments(): SegmentSet {
    return this.#segments;
  }

  /** What the index knows about a file; undefined if it does not contain the file. */
  source(path: string): SegmentSource | undefined {
    return this.#segments.source(path);
  }

  sources(): Iterable<SegmentSource> {
    return this.#segments.sources();
  }

  /** Whether a file has the same size and time as when it was indexed. */
  isUnchanged({ path, size, mtimeMs }: ListedFile): boolean {
    const source = this.source(path);
    if (source === undefined || source.size !== size) return false;
    return (this.#touched.get(path) ?? source.mtimeMs) === mtimeMs;
  }

  /** The text of a file in the editor, else on disk. */
  fileAt(path: string): IndexedFile | undefined {
    return this.#overlays.get(path) ?? this.#recent.read(path);
  }

  /**
   * The best `limit` files, best first, each with its best chunk in its current text; or the best chunks. A string is parsed as a user's
   * query. With the chunks that are closest to the same query, each gains by how close it is.
   *
   * @throws AppError `corrupt` if a file of the index was damaged or removed; `clear` makes it usable again.
   */
  async search(query: Query | string, limit: number, options: IndexSearchOptions = {}): Promise<readonly IndexHit[]> {
    return findHits(this, typeof query === 'string' ? parseQuery(query) : query, { ...options, limit });
  }

  /** The query with its misspelt words corrected, which a search uses; undefined if there are none. */
  correct(query: string, { isTyping = false }: { readonly isTyping?: boolean | undefined } = {}): string | undefined {
    return correctQuery(this, query, isTyping);
  }

  /** Makes searches use this text for a file; undefined restores the version on disk. Only files in the index can be found. */
  setOverlay(path: string, text: string | undefined): void {
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, indexText(path, text));
    this.#showOverlay(path);
  }

  /**
   * Makes the index contain exactly these files. Files with an unchanged size and time are not read; those that are read but have the
   * same bytes are not indexed again.
   *
   * @throws the signal's reason on abort; what was read until then is indexed.
   */
  sync(files: readonly ListedFile[], options: SyncOptions = {}): Promise<SyncSummary> {
    return this.#turns.run(async () => {
      const paths = new Set(files.map(({ path }) => path));
      const removed = [...this.sources()].map(({ path }) => path).filter((path) => !paths.has(path));
      const tasks = this.#tasksOf(files);
      const changed = tasks.filter(({ knownHash }) => knownHash !== undefined).length;
      if (removed.length > 0) await this.remove(removed);
      const same = await this.#build(tasks, options);
      return {
        added: tasks.length - changed,
        changed: changed - same,
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
    return this.#write();
  }

  /** Removes files from all segments. */
  remove(paths: readonly string[]): Promise<void> {
    this.#remove(paths);
    return this.#write();
  }

  /** Empties the index so that it is built again. What another process has written is read again. */
  clear(): Promise<void> {
    return this.#turns.run(async () => {
      if (this.isWriter) this.#store.renewLock();
      this.#load(this.isWriter ? undefined : await this.#store.read());
      await this.#write();
    });
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
      if (isNew) this.#load(await this.#store.read());
      for (const entry of entries) this.#replay(entry);
      if (isNew || entries.length > 0) this.#read([...this.#ahead]);
      if (isNewWriter) await this.#write();
      return isNewWriter;
    });
  }

  /** Allows another process to write the index; `refresh` makes this one the writer again. */
  releaseLock(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#write();
      this.#store.releaseLock();
    });
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#store.dispose();
  }

  #load(stored: StoredIndex | undefined): void {
    const segments = new SegmentSet();
    for (const { segment, file } of stored?.segments ?? []) segments.add(segment, file);
    this.#segments = segments;
    this.#compactor = new SegmentCompactor(segments);
    this.#touched = new Map();
    this.#entries = [];
    this.#stats = undefined;
    for (const entry of stored?.entries ?? []) {
      this.#replay(entry);
      this.#compactor.compactAtOnce();
    }
    for (const path of this.#overlays.keys()) this.#showOverlay(path);
  }

  #tasksOf(files: readonly ListedFile[]): SizedTask[] {
    return files
      .filter((file) => !this.isUnchanged(file))
      .map(({ path, size }) => ({ path, size, knownHash: this.source(path)?.hash }));
  }

  /** Reads files, on all processors if that pays off, and yields meanwhile. Returns how many turned out to be unchanged. */
  async #build(tasks: readonly SizedTask[], { signal, onProgress }: SyncOptions): Promise<number> {
    const total = tasks.reduce((sum, { size }) => sum + size, 0);
    let [done, same] = [0, 0];
    const onBatch = (batch: readonly SizedTask[], built: BuiltBatch): void => {
      this.#add(built);
      this.#read(batch.map(({ path }) => path).filter((path) => this.#meanwhile?.has(path)));
      done += batch.reduce((sum, { size }) => sum + size, 0);
      same += built.same.length;
      onProgress?.(done, total);
      void this.#write();
    };
    this.#meanwhile = new Set();
    try {
      await buildBatches(tasks, { root: this.#root, ...this.#threads, signal, onBatch });
      return same;
    } finally {
      this.#meanwhile = undefined;
      await this.#write();
    }
  }

  /** Reads files in this thread, without yielding. */
  #read(paths: readonly string[]): void {
    if (paths.length === 0) return;
    const tasks = paths.map((path): BuildTask => ({ path, knownHash: this.source(path)?.hash }));
    this.#add(buildFiles(this.#root, tasks));
    for (const path of paths) {
      this.#meanwhile?.add(path);
      if (!this.isWriter) this.#ahead.add(path);
    }
  }

  #remove(paths: readonly string[]): void {
    const indexed = paths.filter((path) => this.source(path) !== undefined);
    if (indexed.length > 0) this.#change(buildFiles(this.#root, [], indexed).segment, []);
  }

  #add({ segment, file, same, missing }: BuiltBatch): void {
    if (file === undefined) this.#change(segment, same);
    else {
      if (segment !== undefined) this.#addSegment(segment, file);
      this.#change(undefined, same);
    }
    this.#remove(missing);
  }

  /** Applies a change that is to be written to the journal. */
  #change(segment: Segment | undefined, same: readonly Source[]): void {
    const settled = same.filter(({ mtimeMs }) => mtimeMs > 0);
    const touched = new Map(settled.map(({ path, mtimeMs }) => [path, mtimeMs]));
    const isEmpty = segment === undefined || segment.sources.length === 0;
    if (isEmpty && touched.size === 0) return;
    const entry = { segment: isEmpty ? undefined : segment, touched };
    this.#entries.push(entry);
    this.#replay(entry);
  }

  /** Applies an entry of the journal. */
  #replay({ segment, touched }: JournalEntry): void {
    if (segment !== undefined) this.#addSegment(segment);
    for (const [path, mtimeMs] of touched) this.#touched.set(path, mtimeMs);
  }

  #addSegment(segment: Segment, file?: string): void {
    for (const { path } of segment.sources) this.#touched.delete(path);
    this.#segments.add(segment, file);
    this.#stats = undefined;
  }

  #showOverlay(path: string): void {
    const overlay = this.#overlays.get(path);
    if (overlay === undefined) return this.#segments.overlaySegment(path, undefined);
    const builder = new SegmentBuilder();
    builder.add(overlay.source, overlay.chunks);
    this.#segments.overlaySegment(path, builder.finish());
  }

  /** What build and merge threads need. Only files that the writer has stored can be passed to them. */
  get #threads(): { readonly program: string | undefined; readonly nextFile: () => string } {
    return { program: this.isWriter ? this.#program : undefined, nextFile: () => this.#store.nextFile() };
  }

  /** Stores all changes so far, and merges segments afterwards. A failure does not reject; `problem` describes it. */
  readonly #write = (): Promise<void> =>
    this.#writes.run(async () => {
      const [entries, compactor] = [this.#entries, this.#compactor];
      this.#entries = [];
      await this.#store.write({ segments: this.#segments, touched: this.#touched }, entries);
      if (this.isWriter && this.problem === undefined) this.#ahead.clear();
      // A failed merge is tried again after the next change.
      compactor.compact({ ...this.#threads, keep: this.#write, signal: this.#end.signal }).catch(() => {});
    });
}

function countSources(segments: SegmentSet): IndexStats {
  const skipped: Partial<Record<SourceStatus, number>> = {};
  let files = 0;
  for (const { status } of segments.sources()) {
    if (hasChunks(status)) files += 1;
    else skipped[status] = (skipped[status] ?? 0) + 1;
  }
  return { files, chunks: segments.documentCount, skipped };
}
