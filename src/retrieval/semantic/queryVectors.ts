import { AppError } from '../../core/errors.ts';
import { setNewest } from '../../core/setNewest.ts';
import type { Embedder } from '../embedding/embedder.ts';

const REMEMBERED = 64;

/** Cache for the vectors of recent queries, because requesting one again costs time and money. */
export class QueryVectors {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** @throws the embedder's AppError at once if it is busy, because a user is waiting; the signal's reason on abort. */
  async vectorOf(query: string, signal: AbortSignal | undefined): Promise<Float32Array> {
    const known = this.#vectors.get(query);
    if (known !== undefined) return known;
    const [vector] = await this.#embedder.embed([query], { signal, retries: 0 });
    if (vector === undefined) throw new AppError('corrupt', `${this.#embedder.id} returned no vector for the query.`);
    setNewest(this.#vectors, query, vector, REMEMBERED);
    return vector;
  }
}
