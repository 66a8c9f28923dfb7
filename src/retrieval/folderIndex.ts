import type { Chunk } from './chunk.ts';
import { FolderContent } from './folderContent.ts';
import { type IndexedFile, type ListedFile, readIndexedFile } from './indexedFile.ts';
import { indexFolder, IndexStore } from './indexStore.ts';
import type { SizedTask } from './parallelBuild.ts';
import { holdsPhrases, PHRASE_GROWTH } from './phrase.ts';
import { parseQuery, type Query } from './query.ts';
import type { SourceStatus } from './segment.ts';
import type { Match } from './segmentSet.ts';
import { toTermQuery } from './termQuery.ts';
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
 */
export class FolderIndex implements Disposable {
  readonly #options: FolderIndexOptions;
  readonly #store: IndexStore;
  readonly #analyzer = new WordAnalyzer();
  readonly #content: FolderContent;
  /** Changes come one after the other. */
  #changes: Promise<unknown> = Promise.resolve();

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

  /**
   * Makes the index that of exactly these files. Files whose size and time are as they were are not read; those that are read
   * and have the same bytes are not indexed again.
   *
   * @throws the signal's reason on abort, with the index as it was; or the system's error when it cannot be written, with the
   * index in memory up to date.
   */
  sync(files: readonly ListedFile[], options: SyncOptions = {}): Promise<SyncSummary> {
    return this.#inTurn(() => this.#sync(files, options));
  }

  /** Reads one file again, or takes it out when it is not there any more; what is found next has it. */
  update(path: string): Promise<void> {
    return this.#inTurn(() => this.#update(path));
  }

  /** The best `limit` chunks, best first, with their text as it is in the files now. A string is read as a person types it. */
  async search(query: Query | string, limit: number): Promise<readonly FolderHit[]> {
    const parsed = typeof query === 'string' ? parseQuery(query) : query;
    const terms = toTermQuery(parsed, this.#analyzer);
    let most = limit;
    for (let tries = 1; ; ) {
      const matches = this.#content.set.search(terms, most);
      const { hits, stale } = this.#readHits(matches, parsed.phrases);
      if (stale.length > 0 && tries < SEARCH_TRIES) {
        tries += 1;
        // Where it cannot be written it is right in memory, and the next change tells why.
        for (const path of stale) await this.update(path).catch(() => {});
        continue;
      }
      if (hits.length >= limit || matches.length < most || stale.length > 0) return hits.slice(0, limit);
      most *= PHRASE_GROWTH;
    }
  }

  [Symbol.dispose](): void {
    this.#store.dispose();
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(change);
    this.#changes = result.catch(() => {}); // told to whoever asked for the change
    return result;
  }

  async #sync(files: readonly ListedFile[], { signal, onProgress }: SyncOptions): Promise<SyncSummary> {
    const listed = new Set(files.map(({ path }) => path));
    const removed = [...this.#content.set.sources()].filter(({ path }) => !listed.has(path)).map(({ path }) => path);
    const suspects = files.filter((file) => !this.#content.isAsKnown(file));
    const tasks = suspects.map(({ path, size }) => ({ path, size, knownHash: this.#content.set.source(path)?.hash }));
    const known = new Set(
      tasks.filter(({ path }) => this.#content.set.source(path) !== undefined).map(({ path }) => path),
    );
    const total = tasks.reduce((sum, { size }) => sum + size, 0);
    let done = 0;
    const onBatch = (batch: readonly SizedTask[]): void => {
      done += batch.reduce((sum, { size }) => sum + size, 0);
      onProgress?.(done, total);
    };
    const { workerProgram: program } = this.#options;
    const same = await this.#content.build(tasks, removed, { program, store: this.#store, signal, onBatch });
    if (tasks.length > 0 || removed.length > 0) await this.#store.write(this.#content);
    const changed = tasks.filter(({ path }) => known.has(path)).length - same;
    return {
      added: tasks.length - known.size,
      changed,
      removed: removed.length,
      unchanged: files.length - tasks.length + same,
    };
  }

  async #update(path: string): Promise<void> {
    const same = this.#content.index([{ path, knownHash: this.#content.set.source(path)?.hash }], []);
    if (same === 0) await this.#store.write(this.#content);
  }

  #readHits(
    matches: readonly Match[],
    phrases: readonly string[],
  ): { readonly hits: FolderHit[]; readonly stale: readonly string[] } {
    const files = new Map<string, IndexedFile | undefined>();
    const stale = new Set<string>();
    const hits: FolderHit[] = [];
    for (const { source, ordinal, startLine, endLine, score } of matches) {
      const { path } = source;
      if (!files.has(path)) files.set(path, readIndexedFile(this.#options.root, path));
      const file = files.get(path);
      const chunk = file?.source.hash === source.hash ? file.chunks[ordinal] : undefined;
      if (chunk === undefined) stale.add(path);
      else if (holdsPhrases(chunk.text, phrases))
        hits.push({ path, startLine, endLine, score, text: chunk.text, symbols: chunk.symbols, scope: chunk.scope });
    }
    return { hits, stale: [...stale] };
  }
}
