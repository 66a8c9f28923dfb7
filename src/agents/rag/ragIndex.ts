import { join } from 'node:path';
import type { Chunk } from '../../retrieval/chunks/chunk.ts';
import { chunkText } from '../../retrieval/chunks/chunkText.ts';
import { type Hit, KeywordIndex } from '../../retrieval/keywordIndex.ts';
import { openEmbedder } from './openEmbedder.ts';
import type { LeftOutSource, RAGNodeOptions, RAGSource, RetrievedChunk } from './ragOptions.ts';
import { type Document, readRagSource } from './sources.ts';
import { type Embedder, embedTexts, type KeyedText } from '../../retrieval/semantic/embedTexts.ts';
import { textKey, VectorStore } from '../../retrieval/semantic/vectorStore.ts';
import { AppError } from '../../core/errors.ts';

interface Ranking {
  add(chunks: readonly Chunk[]): void | Promise<void>;
  search(query: string, limit: number): readonly Hit[] | Promise<readonly Hit[]>;
}

/** The index of a RAGNode: the chunks of its sources, ranked by keywords or vectors. Loaded with the first RAGNode. */
export class RagIndex {
  readonly #ranking: Ranking;
  readonly #chunkMode: NonNullable<RAGNodeOptions['chunkMode']>;
  /** Of chunks that were cut from a page. */
  readonly #pages = new Map<Chunk, number>();

  private constructor(ranking: Ranking, chunkMode: NonNullable<RAGNodeOptions['chunkMode']>) {
    this.#ranking = ranking;
    this.#chunkMode = chunkMode;
  }

  /** @throws AppError if `vectorIndex` is set and its embedder cannot be opened. */
  static async open(options: RAGNodeOptions): Promise<RagIndex> {
    const { embed, vectorIndex = embed !== undefined, chunkMode = 'smart' } = options;
    return new RagIndex(vectorIndex ? await openVectors(options) : new KeywordIndex(), chunkMode);
  }

  /**
   * @returns the files of a folder that were not read.
   * @throws AppError that names the source.
   */
  async addSource(source: RAGSource): Promise<readonly LeftOutSource[]> {
    const chunks: Chunk[] = [];
    const { documents, leftOut } =
      typeof source === 'string' ? await readRagSource(source) : { documents: [source as Document], leftOut: [] };
    for (const { text, source: name, page } of documents) {
      for (const chunk of chunkText(text, name, this.#chunkMode)) {
        chunks.push(chunk);
        if (page !== undefined) this.#pages.set(chunk, page);
      }
    }
    await this.#ranking.add(chunks);
    return leftOut;
  }

  async search(query: string, limit: number): Promise<readonly RetrievedChunk[]> {
    const hits = await this.#ranking.search(query, limit);
    return hits.map(({ chunk, score }) => {
      const { text, source, startLine, endLine } = chunk;
      const page = this.#pages.get(chunk);
      return { text, source, startLine, endLine, score, ...(page === undefined ? {} : { page }) };
    });
  }
}

async function openVectors(options: RAGNodeOptions): Promise<VectorRanking> {
  const { embeddingProvider: provider, embeddingModel: model, localModelPath, persistPath } = options;
  const { embeddingApiKey: apiKey, embeddingBaseUrl: baseUrl } = options;
  if (options.embed !== undefined) return VectorRanking.open(ownEmbedder(options.embed, model), persistPath);
  // Beside this library, or in the project of the program that uses it. A bundle in CommonJS format has no own file name here.
  const here: string | undefined = import.meta.filename;
  const libraryFrom = [...(here === undefined ? [] : [here]), join(process.cwd(), 'package.json')];
  const embedder = await openEmbedder({ provider, model, apiKey, baseUrl, localModelPath, libraryFrom });
  return VectorRanking.open(embedder, persistPath);
}

/** @param model its name, of which stored vectors are. */
function ownEmbedder(embed: NonNullable<RAGNodeOptions['embed']>, model = ''): Embedder {
  return {
    id: `own/${model}`,
    async embed(texts, { signal } = {}) {
      const vectors: readonly (Float32Array | readonly number[])[] = await embed(texts, { signal });
      const count = Array.isArray(vectors) ? vectors.length : 0;
      if (count === texts.length) return vectors.map((vector) => Float32Array.from(vector));
      throw new AppError(
        'corrupt',
        `embed must return one vector for each text: of ${texts.length}, it returned ${count}.`,
      );
    },
  };
}

/**
 * Ranks chunks by cosine similarity to the query. With a folder, vectors are stored there by the hash of their text: an
 * unchanged text is not embedded again, and another model starts from scratch.
 */
class VectorRanking {
  readonly #embedder: Embedder;
  readonly #store: VectorStore;
  readonly #chunks = new Map<string, Chunk[]>();

  private constructor(embedder: Embedder, store: VectorStore) {
    this.#embedder = embedder;
    this.#store = store;
  }

  /** @throws the system's error if the folder cannot be created. */
  static async open(embedder: Embedder, folder: string | undefined): Promise<VectorRanking> {
    return new VectorRanking(embedder, await VectorStore.open(folder, embedder.id, { isHeld: true }));
  }

  /** @throws AppError of the embedder, or `bad-input` for a text that it rejects; the system's error if a vector cannot be stored. */
  async add(chunks: readonly Chunk[]): Promise<void> {
    const missing = new Map<string, Chunk>();
    for (const chunk of chunks) {
      const key = textKey(chunk.text);
      this.#chunks.set(key, [...(this.#chunks.get(key) ?? []), chunk]);
      if (!this.#store.has(key)) missing.set(key, chunk);
    }
    if (missing.size === 0) return;
    try {
      await embedTexts(textsOf(missing), this.#embedder, {
        onVectors: (vectors) => this.#store.add(vectors),
        onRefused: (key, error) => {
          const { source = '', startLine = 0 } = missing.get(key) ?? {};
          throw new AppError('bad-input', `${source}:${startLine} was refused by ${error.message}`, { cause: error });
        },
      });
    } finally {
      await this.#store.flush();
    }
    await this.#store.compact();
  }

  async search(query: string, limit: number): Promise<readonly Hit[]> {
    if (this.#chunks.size === 0 || limit < 1) return [];
    const [vector] = await this.#embedder.embed([query]);
    if (vector === undefined) throw new AppError('corrupt', `${this.#embedder.id} returned no vector for the query.`);
    const nearest = this.#store.nearest(vector, limit, (key) => this.#chunks.has(key));
    const hits = nearest.flatMap(({ key, score }) => (this.#chunks.get(key) ?? []).map((chunk) => ({ chunk, score })));
    return hits.slice(0, limit);
  }
}

// An async generator, because the texts of a folder are read from its files.
async function* textsOf(chunks: ReadonlyMap<string, Chunk>): AsyncGenerator<KeyedText, void> {
  for (const [key, { text }] of chunks) yield { key, text };
}
