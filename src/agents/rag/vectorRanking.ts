import type { Chunk } from '../../retrieval/chunks/chunk.ts';
import type { Hit } from '../../retrieval/keywordIndex.ts';
import type { Embedder } from '../../retrieval/semantic/embedTexts.ts';
import { embedTexts, type KeyedText } from '../../retrieval/semantic/embedTexts.ts';
import { textKey, VectorStore } from '../../retrieval/semantic/vectorStore.ts';
import { AppError } from '../../core/errors.ts';

/**
 * Ranks chunks by cosine similarity to the query. With a folder, vectors are stored there by the hash of their text: an
 * unchanged text is not embedded again, and another model starts from scratch.
 */
export class VectorRanking {
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
