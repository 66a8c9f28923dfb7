import { AppError } from '../../core/errors.ts';
import type { Embedder } from '../embedding/embedder.ts';

const REMEMBERED = 64;

/** The vectors of the latest queries: asking a service for the same again costs time and money. */
export class QueryVectors {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** @throws AppError of the embedder at once where it is busy, since somebody waits; or the signal's reason. */
  async vectorOf(query: string, signal: AbortSignal | undefined): Promise<Float32Array> {
    const known = this.#vectors.get(query);
    if (known !== undefined) return known;
    const [vector] = await this.#embedder.embed([query], { signal, retries: 0 });
    if (vector === undefined) throw new AppError('corrupt', `${this.#embedder.id} gave no vector for the query.`);
    this.#vectors.set(query, vector);
    const [oldest] = this.#vectors.keys();
    if (this.#vectors.size > REMEMBERED && oldest !== undefined) this.#vectors.delete(oldest);
    return vector;
  }
}
