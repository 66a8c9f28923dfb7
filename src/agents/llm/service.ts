import OpenAI from 'openai';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { AppError } from '../../core/errors.ts';
import { Redactor } from '../../core/redact.ts';
import { isCompletion } from './completion.ts';
import { isRateLimit, requestFailure, retryAfterOf } from './failure.ts';
import { clientOptions } from './openaiClient.ts';
import type { Endpoint } from './providers.ts';
import { retryDelayMs, waitFor } from './rateLimit.ts';

export interface CallOptions {
  readonly retries: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A response with the number of retries. */
interface Answer<T> {
  readonly value: T;
  readonly retries: number;
}

/** A chat completions service. Only this module imports the `openai` package; it is loaded with the first request. */
export class ChatService {
  readonly #endpoint: Endpoint;
  readonly #redactor = new Redactor();
  readonly #client: OpenAI;

  constructor(endpoint: Endpoint, key: string | undefined, fetch: typeof globalThis.fetch | undefined) {
    this.#endpoint = endpoint;
    if (key !== undefined) this.#redactor.add(key);
    this.#client = new OpenAI(clientOptions(endpoint, key, fetch));
  }

  /** @throws AppError if the service cannot be reached, rejects the request, or does not return a completion. */
  async complete(body: ChatCompletionCreateParamsNonStreaming, options: CallOptions): Promise<Answer<ChatCompletion>> {
    const answer = await this.#retry(options, () =>
      this.#client.chat.completions.create(body, requestOptions(options)),
    );
    const { value } = answer;
    if (isCompletion(value)) return answer;
    throw this.#noCompletion(value);
  }

  /** The chunks of a streamed response. Leaving the loop closes it. */
  async *stream(
    body: ChatCompletionCreateParamsStreaming,
    options: CallOptions,
    onRetries: (retries: number) => void,
  ): AsyncGenerator<ChatCompletionChunk, void> {
    const { value: chunks, retries } = await this.#retry(options, () =>
      this.#client.chat.completions.create(body, requestOptions(options)),
    );
    onRetries(retries);
    try {
      for await (const chunk of chunks) {
        if ('error' in chunk) throw this.#noCompletion(chunk);
        yield chunk;
      }
      options.signal?.throwIfAborted(); // the package ends an aborted stream as if it were complete
    } catch (error) {
      throw this.#failure(error, options.signal);
    }
  }

  async #retry<T>(options: CallOptions, send: () => Promise<T>): Promise<Answer<T>> {
    for (let retries = 0; ; retries += 1) {
      try {
        return { value: await send(), retries };
      } catch (error) {
        if (!isRateLimit(error) || retries >= options.retries) throw this.#failure(error, options.signal);
        await waitFor(retryDelayMs(retryAfterOf(error), retries + 1), options.signal);
      }
    }
  }

  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason;
    return error instanceof AppError ? error : requestFailure(error, this.#endpoint, this.#redactor);
  }

  /** Some services return status 200 with an error in the body, and some proxies with a page. */
  #noCompletion(body: unknown): AppError {
    const { provider, model } = this.#endpoint;
    const error: unknown = typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
    const text = typeof error === 'string' ? error : (JSON.stringify(error) ?? 'nothing');
    const detail = this.#redactor.redact(text).slice(0, 500);
    return new AppError(
      'corrupt',
      `${provider} (${model}): the service returned HTTP 200 without a completion: ${detail}`,
    );
  }
}

function requestOptions({ signal, timeoutMs }: CallOptions): { signal?: AbortSignal; timeout: number } {
  return signal === undefined ? { timeout: timeoutMs } : { signal, timeout: timeoutMs };
}
