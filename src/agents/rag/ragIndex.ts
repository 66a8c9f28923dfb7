import type { Chunk } from '../../retrieval/chunk.ts';
import { chunkText } from '../../retrieval/chunkText.ts';
import { type Hit, KeywordIndex } from '../../retrieval/keywordIndex.ts';
import { DEFAULT_LOCAL_MODEL, openEmbedder } from './embedder.ts';
import type { RAGNodeOptions, RetrievedChunk } from './ragOptions.ts';
import { readSource } from './sources.ts';
import { VectorStore } from './vectorStore.ts';

interface Ranking {
  add(chunks: readonly Chunk[]): void | Promise<void>;
  search(query: string, limit: number): readonly Hit[] | Promise<readonly Hit[]>;
}

/** What a RAGNode knows: the chunks of its sources, ranked by words or by vectors. Loaded with the first RAGNode. */
export class RagIndex {
  readonly #ranking: Ranking;
  readonly #chunkMode: NonNullable<RAGNodeOptions['chunkMode']>;

  private constructor(ranking: Ranking, chunkMode: NonNullable<RAGNodeOptions['chunkMode']>) {
    this.#ranking = ranking;
    this.#chunkMode = chunkMode;
  }

  /** @throws AppError when `vectorIndex` is asked for and its embedder cannot be opened. */
  static async open(options: RAGNodeOptions): Promise<RagIndex> {
    const { vectorIndex = false, chunkMode = 'smart' } = options;
    return new RagIndex(vectorIndex ? await openVectors(options) : new KeywordIndex(), chunkMode);
  }

  /** @throws AppError that names the source. */
  async addSource(source: string): Promise<void> {
    const documents = await readSource(source);
    await this.#ranking.add(documents.flatMap(({ text, source: name }) => chunkText(text, name, this.#chunkMode)));
  }

  async search(query: string, limit: number): Promise<readonly RetrievedChunk[]> {
    const hits = await this.#ranking.search(query, limit);
    return hits.map(({ chunk: { text, source, startLine, endLine }, score }) => ({
      text,
      source,
      startLine,
      endLine,
      score,
    }));
  }
}

async function openVectors(options: RAGNodeOptions): Promise<VectorStore> {
  const provider = options.embeddingProvider ?? 'local';
  const model = options.embeddingModel ?? (provider === 'local' ? DEFAULT_LOCAL_MODEL : 'text-embedding-3-small');
  const { embeddingApiKey: apiKey, embeddingBaseUrl: baseUrl } = options;
  return VectorStore.open(await openEmbedder({ provider, model, apiKey, baseUrl }), options.persistPath);
}
