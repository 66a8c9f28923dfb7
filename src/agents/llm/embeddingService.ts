import OpenAI from 'openai';
import { AppError } from '../../core/errors.ts';
import { Redactor } from '../../core/redact.ts';
import type { EmbedOptions } from '../../retrieval/embedding/embedder.ts';
import { requestFailure } from './failure.ts';
import { clientOptions } from './openaiClient.ts';
import type { Endpoint } from './providers.ts';
import { withRetries } from './rateLimit.ts';

const RETRIES = 3;

/** An OpenAI-compatible embeddings endpoint. */
export class EmbeddingService {
  readonly #endpoint: Endpoint;
  readonly #redactor = new Redactor();
  readonly #client: OpenAI;

  constructor(endpoint: Endpoint, key: string | undefined) {
    this.#endpoint = endpoint;
    if (key !== undefined) this.#redactor.add(key);
    this.#client = new OpenAI(clientOptions(endpoint, key));
  }

  /**
   * Retries while the service is busy, after the time it specifies.
   *
   * @throws AppError that names provider and model if the service fails or returns another number of vectors; the signal's reason.
   */
  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const { provider, model } = this.#endpoint;
    const { signal, retries = RETRIES, onWait } = options;
    // Without an encoding the package requests base64, which few compatible services support.
    const body = { model, input: [...texts], encoding_format: 'float' as const };
    const send = () => this.#client.embeddings.create(body, { signal });
    const { value } = await withRetries(send, { retries, signal, onWait }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw requestFailure(error, this.#endpoint, this.#redactor);
    });
    const { data } = value;
    if (Array.isArray(data) && data.length === texts.length) {
      return data.map(({ embedding }) => Float32Array.from(embedding));
    }
    throw new AppError('corrupt', `${provider} (${model}): the response does not contain one vector for each text.`);
  }
}
