import OpenAI, { AuthenticationError } from 'openai';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { AppError } from '../../core/errors.ts';
import { fieldOf } from '../../core/jsonFields.ts';
import { Redactor } from '../../core/redact.ts';
import { isCompletion, parsedBody } from './completion.ts';
import { requestFailure } from './failure.ts';
import { clientOptions } from './openaiClient.ts';
import type { Endpoint } from './providers.ts';
import { withRetries } from './rateLimit.ts';

export interface CallOptions {
  readonly retries: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A chat completions service. Only this module imports the `openai` package; it is loaded with the first request. */
export class ChatService {
  readonly #endpoint: Endpoint;
  readonly #redactor = new Redactor();
  readonly #fetch: typeof globalThis.fetch | undefined;
  readonly #renewKey: (() => Promise<string | undefined>) | undefined;
  #client: OpenAI;
  #renewal: Promise<OpenAI> | undefined;

  constructor(
    endpoint: Endpoint,
    key: string | undefined,
    {
      fetch,
      renewKey,
    }: { fetch?: typeof globalThis.fetch | undefined; renewKey?: (() => Promise<string | undefined>) | undefined } = {},
  ) {
    this.#endpoint = endpoint;
    this.#fetch = fetch;
    this.#renewKey = renewKey;
    this.#client = this.#connect(key);
  }

  #connect(key: string | undefined): OpenAI {
    if (key !== undefined) this.#redactor.add(key);
    return new OpenAI(clientOptions(this.#endpoint, key, this.#fetch));
  }

  /** Sends a request; once more with a new key if the service no longer accepts a key that expires. */
  async #send<T>(request: (client: OpenAI) => Promise<T>): Promise<T> {
    const client = this.#client;
    try {
      return await request(client);
    } catch (error) {
      if (this.#renewKey === undefined || !(error instanceof AuthenticationError)) throw error;
      return request(client === this.#client ? await this.#renewed(this.#renewKey) : this.#client);
    }
  }

  /** Requests that fail at the same time share one new key. */
  #renewed(renewKey: () => Promise<string | undefined>): Promise<OpenAI> {
    this.#renewal ??= renewKey()
      .then((key) => (this.#client = this.#connect(key)))
      .finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  /** @throws AppError if the service cannot be reached, rejects the request, or does not return a completion. */
  async complete(
    body: ChatCompletionCreateParamsNonStreaming,
    options: CallOptions,
  ): Promise<{ readonly value: ChatCompletion; readonly retries: number }> {
    const answer = await this.#retry(options, () =>
      this.#send((client) => client.chat.completions.create(body, requestOptions(options))),
    );
    const value = parsedBody(answer.value);
    if (isCompletion(value)) return { ...answer, value };
    throw this.#noCompletion(value);
  }

  /** The chunks of a streamed response. Leaving the loop closes it. */
  async *stream(
    body: ChatCompletionCreateParamsStreaming,
    options: CallOptions,
    onRetries: (retries: number) => void,
  ): AsyncGenerator<ChatCompletionChunk, void> {
    const { value: chunks, retries } = await this.#retry(options, () =>
      this.#send((client) => client.chat.completions.create(body, requestOptions(options))),
    );
    onRetries(retries);
    try {
      for await (const chunk of chunks) {
        const received: unknown = chunk;
        if (fieldOf(received, 'error')) throw this.#noCompletion(received);
        if (Array.isArray(fieldOf(received, 'choices'))) yield chunk;
        else if (fieldOf(received, 'usage')) yield { ...chunk, choices: [] };
      }
      options.signal?.throwIfAborted(); // the package ends an aborted stream as if it were complete
    } catch (error) {
      throw this.#failure(error, options.signal);
    }
  }

  #retry<T>(options: CallOptions, send: () => Promise<T>): ReturnType<typeof withRetries<T>> {
    return withRetries(send, options).catch((error: unknown) => {
      throw this.#failure(error, options.signal);
    });
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

function requestOptions({ signal, timeoutMs }: CallOptions): { signal: AbortSignal | undefined; timeout: number } {
  return { signal, timeout: timeoutMs };
}
