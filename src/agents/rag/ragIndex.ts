import { join } from 'node:path';
import type { Chunk } from '../../retrieval/chunks/chunk.ts';
import { chunkText } from '../../retrieval/chunks/chunkText.ts';
import { type Hit, KeywordIndex } from '../../retrieval/keywordIndex.ts';
import { openEmbedder } from './openEmbedder.ts';
import type { RAGNodeOptions, RetrievedChunk } from './ragOptions.ts';
import { readDocuments } from './sources.ts';
import { VectorRanking } from './vectorRanking.ts';

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
    const { vectorIndex = false, chunkMode = 'smart' } = options;
    return new RagIndex(vectorIndex ? await openVectors(options) : new KeywordIndex(), chunkMode);
  }

  /** @throws AppError that names the source. */
  async addSource(source: string): Promise<void> {
    const chunks: Chunk[] = [];
    for (const { text, source: name, page } of await readDocuments(source)) {
      for (const chunk of chunkText(text, name, this.#chunkMode)) {
        chunks.push(chunk);
        if (page !== undefined) this.#pages.set(chunk, page);
      }
    }
    await this.#ranking.add(chunks);
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
  const { embeddingProvider: provider = 'local', embeddingModel: model, localModelPath, persistPath } = options;
  const { embeddingApiKey: apiKey, embeddingBaseUrl: baseUrl } = options;
  // Beside this library, or in the project of the program that uses it. A bundle in CommonJS format has no own file name here.
  const here: string | undefined = import.meta.filename;
  const libraryFrom = [...(here === undefined ? [] : [here]), join(process.cwd(), 'package.json')];
  const embedder = await openEmbedder({ provider, model, apiKey, baseUrl, localModelPath, libraryFrom });
  return VectorRanking.open(embedder, persistPath);
}
