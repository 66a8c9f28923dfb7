import { join } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import type { Chunk } from '../chunks/chunk.ts';
import { readIndexedFile } from '../index/indexedFile.ts';
import { hasChunks, type Source } from '../segments/segment.ts';
import { takeWriterLock } from '../index/writerLock.ts';
import { type ChunkLocation, ChunkLocations } from './chunkLocations.ts';
import type { Embedder } from './embedTexts.ts';
import { embedTexts } from './embedTexts.ts';
import type { NearChunk } from '../search/nearChunks.ts';
import { vectorsFolder } from './embeddingChoice.ts';
import { type FoundKey, textKey, VectorStore } from './vectorStore.ts';
import { setNewest } from '../../core/setNewest.ts';

const LOCATIONS_FILE = 'places.json';
// After the first build, this many chunks may lack vectors while changed files are indexed.
const MOST_MISSING = 0.1;
// Nobody waits for the result, and a user would have to notice that it gave up.
const RETRIES = 8;
// Vectors of recent queries.
const REMEMBERED = 64;
// A token has about 4 characters in prose and fewer in code; this value makes the estimate too high rather than too low.
const CHARACTERS_PER_TOKEN = 3;

/** The state of semantic ranking. Unless it is `ready`, search uses keywords only. */
export type SemanticState =
  | { readonly type: 'off' }
  /** Some chunks have no vector yet; `reason` says why no work is in progress, if so. */
  | { readonly type: 'unfinished'; readonly done: number; readonly total: number; readonly reason?: string }
  | { readonly type: 'ready' }
  /** The query could not be embedded. */
  | { readonly type: 'failed'; readonly reason: string };

interface NearestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Limits results to these files; undefined for all. */
  readonly accepts?: ((path: string) => boolean) | undefined;
}

export interface FolderVectorsOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly embedder: Embedder;
}

/** The effort of embedding. */
export interface EmbeddingEstimate {
  /** Distinct texts without a vector. */
  readonly texts: number;
  /** Chunks that already have a vector, or have the same text as another. */
  readonly known: number;
  /** Approximate. */
  readonly tokens: number;
  /** Approximate, by list price; undefined if that is unknown. */
  readonly dollars: number | undefined;
}

export interface EmbeddingProgress {
  /** Progress in texts, of those that had no vector at the start. */
  readonly done: number;
  readonly total: number;
  /** Set while the service says that it is busy: seconds until the next request. */
  readonly waiting?: number;
}

interface FolderEmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** If more texts than this need embedding, none is embedded, and the state says that it waits for power. */
  readonly mostTexts?: number | undefined;
  readonly onProgress?: ((progress: EmbeddingProgress) => void) | undefined;
}

/**
 * The vectors of an indexed folder, stored in FARWHARF_HOME, to find the chunks whose meaning is close to a query's. The index
 * determines the files. Their texts go to the embedder, which may be a remote service, so nothing is embedded without a request.
 */
export class FolderVectors implements Disposable {
  readonly #root: string;
  readonly #folder: string;
  readonly #embedder: Embedder;
  readonly #store: VectorStore;
  readonly #locations: ChunkLocations;
  readonly #queries: QueryVectors;
  /** Texts that the model rejected. */
  readonly #refused = new Set<string>();
  /** Texts without a vector. */
  #missingTexts = 0;
  #wasComplete = false;
  /** Why the missing vectors are not being created. */
  #reason: string | undefined = 'not started';
  /** Why the last query could not be embedded. */
  #failure: string | undefined;

  private constructor(
    { root, embedder }: FolderVectorsOptions,
    folder: string,
    store: VectorStore,
    locations: ChunkLocations,
  ) {
    this.#root = root;
    this.#embedder = embedder;
    this.#queries = new QueryVectors(embedder);
    this.#folder = folder;
    this.#store = store;
    this.#locations = locations;
    this.#count();
  }

  /**
   * Opens the stored vectors. Nothing is read from the folder, and nothing is embedded.
   *
   * @throws the system's error if FARWHARF_HOME cannot be written.
   */
  static async open(options: FolderVectorsOptions): Promise<FolderVectors> {
    const folder = vectorsFolder(options.home, options.root);
    const store = await VectorStore.open(folder, options.embedder.id);
    return new FolderVectors(options, folder, store, await ChunkLocations.read(join(folder, LOCATIONS_FILE)));
  }

  get state(): SemanticState {
    const total = this.#locations.textCount;
    const mayMiss = this.#wasComplete ? total * MOST_MISSING : 0;
    if (total === 0 || this.#missingTexts > mayMiss) {
      const done = total - this.#missingTexts;
      return { type: 'unfinished', done, total, ...(this.#reason === undefined ? {} : { reason: this.#reason }) };
    }
    return this.#failure === undefined ? { type: 'ready' } : { type: 'failed', reason: this.#failure };
  }

  /**
   * Reads the files that have changed, and estimates what embedding the index's files would take. Nothing is embedded.
   *
   * @throws the signal's reason on abort.
   */
  async estimate(sources: Iterable<Source>, { signal }: FolderEmbedOptions = {}): Promise<EmbeddingEstimate> {
    await this.#locate(sources, signal);
    let characters = 0;
    const texts = new Set<string>();
    for await (const { key, text } of this.#missing(signal)) {
      texts.add(key);
      characters += text.length;
    }
    const embeddedCount = this.#locations.chunkCount - texts.size;
    return estimateEmbedding(
      { texts: texts.size, known: embeddedCount, characters },
      this.#embedder.dollarsPerMillionTokens,
    );
  }

  /**
   * Embeds the texts without vectors. After an abort or a failure, the next call continues where this one stopped.
   *
   * @throws the signal's reason on abort; AppError `conflict` while another process embeds this folder, else the embedder's or the
   * system's error.
   */
  async embed(sources: Iterable<Source>, options: FolderEmbedOptions = {}): Promise<void> {
    const lock = takeWriterLock(this.#folder);
    if (lock === undefined) {
      throw new AppError('conflict', 'Another process is embedding this folder. Open it again when that is done.');
    }
    this.#reason = undefined;
    try {
      await this.#locate(sources, options.signal);
      if (this.#missingTexts > (options.mostTexts ?? Infinity)) {
        this.#reason = 'waits for power, or to be resumed';
        return;
      }
      await this.#embedMissing(options);
      await this.#store.compact((key) => this.#locations.hasKey(key));
    } catch (error) {
      this.#reason = options.signal?.aborted === true ? 'stopped' : messageOf(error);
      throw error;
    } finally {
      await this.#store.flush().finally(() => lock.dispose());
    }
    await this.#locations.write(join(this.#folder, LOCATIONS_FILE));
  }

  /** The `limit` chunks closest to a query, best first; none unless semantic ranking is ready. Rejects only on abort. */
  async nearest(query: string, limit: number, options: NearestOptions = {}): Promise<readonly NearChunk[]> {
    const { signal, accepts = () => true } = options;
    if (this.state.type === 'unfinished' || query.trim() === '') return [];
    const acceptedLocations = (key: string): ChunkLocation[] =>
      this.#locations.locationsOf(key).filter(({ path }) => accepts(path));
    try {
      const vector = await this.#queries.vectorOf(query, signal);
      const nearest = this.#store.nearest(vector, limit, (key) => acceptedLocations(key).length > 0);
      this.#failure = undefined;
      const at = ({ key, standardScore }: FoundKey): NearChunk[] =>
        acceptedLocations(key).map((location) => ({ ...location, standardScore }));
      // A vector at a right angle to the query has nothing in common with it.
      return nearest.flatMap((each) => (each.score > 0 ? at(each) : [])).slice(0, limit);
    } catch (error) {
      signal?.throwIfAborted();
      this.#failure = messageOf(error);
      return [];
    }
  }

  dispose(): void {
    this.#store.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Finds the locations of the texts. New ones count as missing at once, because a search may come before the rest is located. */
  async #locate(sources: Iterable<Source>, signal: AbortSignal | undefined): Promise<void> {
    const yielder = new Yielder(signal);
    const removedPaths = new Set(this.#locations.paths);
    for (const { path, hash: wanted, status } of sources) {
      if (!hasChunks(status)) continue;
      removedPaths.delete(path);
      if (this.#locations.file(path)?.hash === wanted) continue;
      if (yielder.isDue) await yielder.pause();
      const file = readIndexedFile(this.#root, path);
      const keys = file?.chunks.map(({ text }) => textKey(text)) ?? [];
      this.#missingTexts += this.#locations.newKeys(keys).filter((key) => this.#isMissing(key)).length;
      if (file === undefined) this.#locations.delete(path);
      else this.#locations.set(path, { hash: file.source.hash, keys });
    }
    for (const path of removedPaths) this.#locations.delete(path);
    this.#count();
  }

  /** The texts without a vector, each once. They are read again, because storing them would hold the folder in memory. */
  async *#missing(
    signal: AbortSignal | undefined,
  ): AsyncGenerator<{ readonly key: string; readonly text: string }, void> {
    const yielder = new Yielder(signal);
    const keys = new Set<string>();
    const isMissing = (key: string): boolean => this.#isMissing(key) && !keys.has(key);
    for (const path of this.#locations.paths) {
      if (yielder.isDue) await yielder.pause();
      if (!this.#locations.file(path)?.keys.some(isMissing)) continue;
      for (const { text } of readIndexedFile(this.#root, path)?.chunks ?? ([] as Chunk[])) {
        const key = textKey(text);
        if (!this.#locations.hasKey(key) || !isMissing(key)) continue;
        keys.add(key);
        yield { key, text };
      }
    }
  }

  async #embedMissing({ signal, onProgress }: FolderEmbedOptions): Promise<void> {
    const total = this.#missingTexts;
    let done = 0;
    const advance = (texts: number): void => {
      done += texts;
      this.#missingTexts = total - done;
      this.#wasComplete ||= done === total;
      onProgress?.({ done, total });
    };
    advance(0);
    await embedTexts(this.#missing(signal), this.#embedder, {
      signal,
      retries: RETRIES,
      onWait: (seconds) => onProgress?.({ done, total, waiting: seconds }),
      onVectors: async (vectors) => {
        await this.#store.add(vectors);
        advance(vectors.length);
      },
      onRefused: (key) => {
        this.#refused.add(key);
        advance(1);
      },
    });
  }

  #count(): void {
    this.#missingTexts = [...this.#locations.keys].filter((key) => this.#isMissing(key)).length;
    this.#wasComplete ||= this.#missingTexts === 0 && this.#locations.textCount > 0;
  }

  #isMissing(key: string): boolean {
    return !this.#store.has(key) && !this.#refused.has(key);
  }
}

/** Cache for the vectors of recent queries, because requesting one again costs time and money. */
class QueryVectors {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** @throws the embedder's AppError at once if it is busy, because a user is waiting; the signal's reason on abort. */
  async vectorOf(query: string, signal: AbortSignal | undefined): Promise<Float32Array> {
    const cachedVector = this.#vectors.get(query);
    if (cachedVector !== undefined) return cachedVector;
    const [vector] = await this.#embedder.embed([query], { signal, retries: 0 });
    if (vector === undefined) throw new AppError('corrupt', `${this.#embedder.id} returned no vector for the query.`);
    setNewest(this.#vectors, query, vector, REMEMBERED);
    return vector;
  }
}

/** Estimates tokens and price from the total number of characters. */
function estimateEmbedding(
  work: { readonly texts: number; readonly known: number; readonly characters: number },
  dollarsPerMillionTokens: number | undefined,
): EmbeddingEstimate {
  const tokens = Math.ceil(work.characters / CHARACTERS_PER_TOKEN);
  const dollars = dollarsPerMillionTokens === undefined ? undefined : (tokens * dollarsPerMillionTokens) / 1e6;
  return { texts: work.texts, known: work.known, tokens, dollars };
}
