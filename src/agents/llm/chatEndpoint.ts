import { Readable } from 'node:stream';
import OpenAI, { AuthenticationError } from 'openai';
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { AppError } from '../../core/errors.ts';
import { Redactor } from '../../core/redact.ts';
import { delay } from '../../core/retry.ts';
import { type CompletionChunk, isCompletion, parsedBody } from './completion.ts';
import { requestFailure } from './requestFailure.ts';
import { clientOptions } from './openaiClient.ts';
import type { Endpoint } from './providers.ts';
import { waitAfter, withRetries } from './rateLimit.ts';
import { readReply } from './replyStream.ts';
import { completionOfResponse, readResponse } from './responses.ts';
import { ResponseTimeout } from './responseTimeout.ts';

export interface CallOptions {
  readonly retries: number;
  /** For the whole response, or for each silence of a streamed one. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called before each wait, in seconds. */
  readonly onWait?: ((seconds: number) => void) | undefined;
}

/** A service of chat completions or responses. Only this module imports the `openai` package; it is loaded with the first request. */
export class ChatEndpoint {
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

  /**
   * @param responses the body of the same request for the Responses API, if that is to be used.
   * @throws AppError if the service cannot be reached, rejects the request, or does not return a completion.
   */
  async complete(
    body: ChatCompletionCreateParamsNonStreaming,
    options: CallOptions,
    responses?: object,
  ): Promise<{ readonly value: ChatCompletion; readonly retries: number }> {
    const timeout = new ResponseTimeout(options.timeoutMs, options.signal);
    const answer = await this.#retry(
      options,
      timeout,
      (client, request): Promise<unknown> =>
        responses === undefined
          ? client.chat.completions.create(body, request)
          : client.post('/responses', { body: responses, ...request }),
    );
    const received = parsedBody(answer.value);
    const value: unknown = responses === undefined ? received : completionOfResponse(received);
    if (isCompletion(value)) return { ...answer, value };
    throw this.#noCompletion(received);
  }

  /** The chunks of a streamed response. Leaving the loop closes it. @throws as `complete` does, also when the reply ends too early. */
  async *stream(
    body: ChatCompletionCreateParamsStreaming,
    options: CallOptions,
    onRetries: (retries: number) => void,
    responses?: object,
  ): AsyncGenerator<CompletionChunk, void> {
    const timeout = new ResponseTimeout(options.timeoutMs, options.signal);
    const read = responses === undefined ? readReply : readResponse;
    let used = 0;
    for (;;) {
      const left = { ...options, retries: options.retries - used };
      const { value: response, retries } = await this.#retry(left, timeout, (client, request) =>
        responses === undefined
          ? client.chat.completions.create(body, request).asResponse()
          : client.post('/responses', { body: responses, ...request }).asResponse(),
      );
      used += retries;
      onRetries(used);
      let isBegun = false;
      try {
        for await (const chunk of read(timeout.limitEach(response.body ?? Readable.from([])))) {
          isBegun ||= hasToken(chunk);
          yield chunk;
        }
        return;
      } catch (error) {
        // What was yielded cannot be taken back.
        const waitMs = isBegun || used >= options.retries ? undefined : waitAfter(error, used + 1);
        if (waitMs === undefined || options.signal?.aborted === true) throw this.#failure(error, options.signal);
        used += 1;
        options.onWait?.(waitMs / 1000);
        await delay(waitMs, options.signal);
      }
    }
  }

  #retry<T>(
    options: CallOptions,
    timeout: ResponseTimeout,
    create: (client: OpenAI, request: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): ReturnType<typeof withRetries<T>> {
    const request = { signal: timeout.signal, timeout: options.timeoutMs };
    const send = (): Promise<T> => timeout.limit(() => this.#send((client) => create(client, request)));
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
    const { provider, model, baseUrl } = this.#endpoint;
    const error: unknown = typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
    const text = typeof error === 'string' ? error : (JSON.stringify(error) ?? 'nothing');
    const detail = this.#redactor.redact(text).slice(0, 500);
    const what = `the service returned HTTP 200 without a completion: ${detail.replace(/\.$/, '')}`;
    const advice = error === body ? `Check that ${baseUrl} is a chat completions API.` : 'Try again later.';
    return new AppError('corrupt', `${provider} (${model}): ${what}. ${advice}`);
  }
}

/** Whether a chunk has a part of the reply, and not only the role of its author. */
function hasToken({ choices }: CompletionChunk): boolean {
  const { role: _role, ...parts }: Readonly<Record<string, unknown>> = { ...choices[0]?.delta };
  return Object.values(parts).some((part) => (typeof part === 'string' ? part !== '' : Array.isArray(part)));
}
