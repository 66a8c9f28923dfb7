import type { Chunk } from './chunk.ts';
import { FolderContent } from './folderContent.ts';
import { FUSED_DEPTH, fuseMatches } from './fusedMatches.ts';
import { type IndexedFile, indexText, type ListedFile, readIndexedFile } from './indexedFile.ts';
import { indexFolder, IndexStore } from './indexStore.ts';
import type { SizedTask } from './parallelBuild.ts';
import { holdsPhrases, PHRASE_GROWTH } from './phrase.ts';
import { parseQuery, type Query } from './query.ts';
import type { SegmentSource, SourceStatus } from './segment.ts';
import { SegmentBuilder } from './segmentBuilder.ts';
import type { Match } from './segmentSet.ts';
import { toTermQuery } from './termQuery.ts';
import type { ChunkPlace } from './vectors/meaning.ts';
import { WordAnalyzer } from './words.ts';

// Files may change between the search and the reading of what was found; then they are indexed and the search is repeated.
const SEARCH_TRIES = 3;

export interface FolderIndexOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the threads that build; without it everything is built in this one. */
  readonly workerProgram?: string | undefined;
}

export interface SyncOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** What bringing the index up to date found, in files. */
export interface SyncSummary {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

export interface IndexStats {
  readonly files: number;
  readonly chunks: number;
  /** Files without chunks, by the reason. */
  readonly passedOver: Readonly<Partial<Record<SourceStatus, number>>>;
}

export interface FolderHit extends Pick<Chunk, 'text' | 'symbols' | 'scope'> {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
}

/**
 * The index of a folder, kept in FARWHARF_HOME. The caller decides which files belong to it; it holds no text, which is read
 * from the files that were found. It is never wrong about a file that it shows: one that has changed is indexed anew first.
 *
 * What is taken in is found at once. Writing it follows, in the order in which it was taken in.
 */
export class FolderIndex implements Disposable {
  readonly #options: FolderIndexOptions;
  readonly #store: IndexStore;
  readonly #analyzer = new WordAnalyzer();
  readonly #overlays = new Map<string, IndexedFile>();
  #content: FolderContent;
  #syncs: Promise<unknown> = Promise.resolve();
  #writes: Promise<void> = Promise.resolve();
  /** Paths that were taken in while a whole sync goes on, which may have read them before. */
  #meanwhile: Set<string> | undefined;
  /** Of a process that does not write: paths of which it may know more than the writer has written. */
  readonly #own = new Set<string>();

  private constructor(options: FolderIndexOptions, store: IndexStore, content: FolderContent) {
    this.#options = options;
    this.#store = store;
    this.#content = content;
  }

  /**
   * Opens the index as it was left; an empty one where there is none or it is damaged. Where another process writes it, changes
   * are seen by this one alone.
   *
   * @throws the system's error when FARWHARF_HOME cannot be written.
   */
  static async open(options: FolderIndexOptions): Promise<FolderIndex> {
    const store = await IndexStore.open(indexFolder(options.home, options.root), options.root);
    try {
      return new FolderIndex(options, store, new FolderContent(options.root, await store.read()));
    } catch (error) {
      store.dispose();
      throw error;
    }
  }

  /** Whether changes are kept; false while another process writes this index. */
  get isWriter(): boolean {
    return this.#store.isWriter;
  }

  get stats(): IndexStats {
    const passedOver: Partial<Record<SourceStatus, number>> = {};
    let files = 0;
    for (const { status } of this.#content.set.sources()) {
      if (status === 'indexed') files += 1;
      else passedOver[status] = (passedOver[status] ?? 0) + 1;
    }
    return { files, chunks: this.#content.set.documentCount, passedOver };
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
   * @throws the signal's reason on abort, with what was read until then in the index; or the system's error when it cannot be
   * written, with the index in memory up to date.
   */
  sync(files: readonly ListedFile[], options: SyncOptions = {}): Promise<SyncSummary> {
    const result = this.#syncs.then(() => this.#sync(files, options));
    this.#syncs = result.catch(() => {}); // told to whoever asked for it
    return result;
  }

  /**
   * Reads files again, or takes out those that are not there any more; what is found next has them. Resolves when that is kept.
   *
   * @throws the system's error when it cannot be written.
   */
  update(paths: readonly string[]): Promise<void> {
    this.#take(paths);
    return this.#write();
  }

  /** Takes files out, wherever they are. @throws the system's error when it cannot be written. */
  remove(paths: readonly string[]): Promise<void> {
    this.#content.remove(paths);
    return this.#write();
  }

  /** Searches a file as this text instead of as it is on disk, or as on disk again. It must belong to the index to be found. */
  setOverlay(path: string, text: string | undefined): void {
    const file = text === undefined ? undefined : indexText(path, text);
    if (file === undefined) {
      this.#overlays.delete(path);
      this.#content.set.setOverlay(path, undefined);
      return;
    }
    this.#overlays.set(path, file);
    const builder = new SegmentBuilder(this.#analyzer);
    builder.add(file.source, file.chunks);
    this.#content.set.setOverlay(path, builder.finish());
  }

  /**
   * Takes in what another process has written, and becomes the writer when there is none. Gives whether it became that; then
   * files may have changed that nobody saw.
   */
  async refresh(): Promise<boolean> {
    if (this.isWriter) return false;
    const isNewWriter = this.#store.takeLock();
    const { isNew, entries } = isNewWriter ? { isNew: true, entries: [] } : await this.#store.readNews();
    if (isNew) this.#replaceContent(new FolderContent(this.#options.root, await this.#store.read()));
    for (const entry of entries) this.#content.replay(entry);
    if (isNew || entries.length > 0) this.#take([...this.#own]);
    if (isNewWriter) await this.#write();
    return isNewWriter;
  }

  /** Lets another process write the index; `refresh` makes this one the writer again. */
  async letGo(): Promise<void> {
    await this.#writes;
    this.#store.releaseLock();
  }

  /**
   * The best `limit` chunks, best first, with their text as it is in the files now. A string is read as a person types it. `near` is
   * another ranking of the same query, by meaning: then both count alike, and scores are those of the two together.
   */
  async search(query: Query | string, limit: number, near: readonly ChunkPlace[] = []): Promise<readonly FolderHit[]> {
    const parsed = typeof query === 'string' ? parseQuery(query) : query;
    const terms = toTermQuery(parsed, this.#analyzer);
    const wanted = near.filter(({ path }) => parsed.paths.accepts(path));
    let most = wanted.length === 0 ? limit : Math.max(limit, FUSED_DEPTH);
    for (let tries = 1; ; ) {
      const found = this.#content.set.search(terms, most);
      const matches = fuseMatches(found, wanted, (path) => this.source(path));
      const { hits, stale } = this.#readHits(matches, parsed.phrases);
      if (stale.length > 0 && tries < SEARCH_TRIES) {
        tries += 1;
        // Where it cannot be written it is right in memory, and the next change tells why.
        this.update(stale).catch(() => {});
        continue;
      }
      if (hits.length >= limit || found.length < most || stale.length > 0) return hits.slice(0, limit);
      most *= PHRASE_GROWTH;
    }
  }

  [Symbol.dispose](): void {
    this.#store.dispose();
  }

  async #sync(files: readonly ListedFile[], { signal, onProgress }: SyncOptions): Promise<SyncSummary> {
    const listed = new Set(files.map(({ path }) => path));
    const removed = [...this.sources()].filter(({ path }) => !listed.has(path)).map(({ path }) => path);
    const suspects = files.filter((file) => !this.isAsKnown(file));
    const tasks = suspects.map(({ path, size }) => ({ path, size, knownHash: this.source(path)?.hash }));
    const known = tasks.filter(({ knownHash }) => knownHash !== undefined).length;
    const total = tasks.reduce((sum, { size }) => sum + size, 0);
    let [done, same] = [0, 0];
    const onBatch = (batch: readonly SizedTask[], sameInBatch: number): void => {
      this.#take(batch.map(({ path }) => path).filter((path) => this.#meanwhile?.has(path)));
      done += batch.reduce((sum, { size }) => sum + size, 0);
      same += sameInBatch;
      onProgress?.(done, total);
      this.#write().catch(() => {}); // the last one tells
    };
    this.#meanwhile = new Set();
    try {
      this.#content.remove(removed);
      const program = this.isWriter ? this.#options.workerProgram : undefined;
      await this.#content.build(tasks, { program, nextFile: () => this.#store.nextFile(), signal, onBatch });
    } finally {
      this.#meanwhile = undefined;
    }
    await this.#write();
    const changed = known - same;
    return {
      added: tasks.length - known,
      changed,
      removed: removed.length,
      unchanged: files.length - tasks.length + same,
    };
  }

  #take(paths: readonly string[]): void {
    if (paths.length === 0) return;
    this.#content.read(paths.map((path) => ({ path, knownHash: this.source(path)?.hash })));
    for (const path of paths) {
      this.#meanwhile?.add(path);
      if (!this.isWriter) this.#own.add(path);
    }
  }

  #write(): Promise<void> {
    const result = this.#writes.then(() => this.#writeNow());
    this.#writes = result.catch(() => {});
    return result;
  }

  async #writeNow(): Promise<void> {
    const entries = this.#content.takeEntries();
    await this.#store.write(this.#content, entries);
    this.#content.tidy();
    if (this.isWriter) this.#own.clear();
  }

  #replaceContent(content: FolderContent): void {
    this.#content = content;
    for (const [path, file] of this.#overlays) {
      const builder = new SegmentBuilder(this.#analyzer);
      builder.add(file.source, file.chunks);
      content.set.setOverlay(path, builder.finish());
    }
  }

  #readHits(
    matches: readonly Pick<Match, 'source' | 'ordinal' | 'score'>[],
    phrases: readonly string[],
  ): { readonly hits: FolderHit[]; readonly stale: readonly string[] } {
    const files = new Map<string, IndexedFile | undefined>();
    const stale = new Set<string>();
    const hits: FolderHit[] = [];
    for (const { source, ordinal, score } of matches) {
      const { path } = source;
      if (!files.has(path)) files.set(path, this.#overlays.get(path) ?? readIndexedFile(this.#options.root, path));
      const file = files.get(path);
      const chunk = file?.source.hash === source.hash ? file.chunks[ordinal] : undefined;
      if (chunk === undefined) stale.add(path);
      else if (holdsPhrases(chunk.text, phrases)) {
        const { startLine, endLine, text, symbols, scope } = chunk;
        hits.push({ path, startLine, endLine, score, text, symbols, scope });
      }
    }
    return { hits, stale: [...stale] };
  }
}
