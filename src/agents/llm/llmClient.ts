import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { eitherSignal, scopes } from '../run/scope.ts';
import { estimateCost, type Price } from './prices.ts';
import { type Endpoint, type EndpointOptions, resolveEndpoint } from './providers.ts';
import { completionBody } from './completion.ts';
import { type Completions, hosted } from './hostedCompletions.ts';
import type { CallOptions } from './service.ts';
import { serviceKey } from './serviceKey.ts';
import { jsonSchemaOf, parseReply, repairRequest, responseFormat, schemaInstruction } from './structured.ts';

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_SECONDS = 600; // reasoning models think for minutes before the first byte

export interface LLMClientOptions extends EndpointOptions {
  /** The key itself; takes precedence over variables. */
  readonly apiKey?: string | undefined;
  /** Sends the requests. The default uses the proxies of the environment and the system's certificates. */
  readonly fetch?: typeof fetch;
  /** US dollars for a million tokens, for models without a known list price. */
  readonly price?: Price;
}

/** A message of the chat completions API. Every field is sent unchanged. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly name?: string;
  /** Of an assistant that called tools, and of the `tool` message that answers one of its calls. */
  readonly tool_calls?: readonly unknown[];
  readonly tool_call_id?: string;
}

export interface AskOptions {
  /** How often a request is retried after status 429; 3 if absent. */
  readonly retries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The time limit of one request in seconds; 600 if absent. */
  readonly timeout?: number | undefined;
}

interface SchemaOptions<T extends z.ZodType> extends AskOptions {
  readonly schema: T;
}

export interface ToolOptions extends AskOptions {
  /** As chat completions take them. */
  readonly tools?: readonly Record<string, unknown>[] | undefined;
  readonly toolChoice?: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as written by the model. Check it before use. */
  readonly arguments: string;
}

export interface ChatReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** `stop`, `length`, `tool_calls` or another reason of the service. */
  readonly finishReason: string;
}

/** Sends prompts to a language model through a chat completions API. The `openai` package is loaded with the first request. */
export class LLMClient {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly #endpoint: Endpoint;
  readonly #apiKey: string | undefined;
  readonly #fetch: typeof fetch | undefined;
  readonly #price: Price | undefined;
  #service: Promise<Completions> | undefined;

  /** @throws AppError `bad-input` for an unknown provider or an invalid `baseUrl`. Only requests need a key. */
  constructor(options: LLMClientOptions = {}) {
    this.#endpoint = resolveEndpoint(options);
    this.provider = this.#endpoint.provider;
    this.model = this.#endpoint.model;
    this.baseUrl = this.#endpoint.baseUrl;
    this.#apiKey = options.apiKey;
    this.#fetch = options.fetch;
    this.#price = options.price;
  }

  /** Sends one user message and returns the reply: text, or a value of the schema. Throws as `chatComplete` does. */
  ask<T extends z.ZodType>(prompt: string, options: SchemaOptions<T>): Promise<z.infer<T>>;
  ask(prompt: string, options?: AskOptions & { readonly schema?: undefined }): Promise<string>;
  ask(prompt: string, options: AskOptions & { readonly schema?: z.ZodType | undefined } = {}): Promise<unknown> {
    return this.#answer([{ role: 'user', content: prompt }], options);
  }

  /**
   * Sends messages and returns the reply. With a schema the model has to write JSON; a reply that does not match is sent back
   * once with the issues.
   *
   * @throws AppError that names provider and model if the key is missing, the service fails, or the reply is empty, cut off
   * or (twice) does not match the schema; the signal's reason on abort.
   */
  chatComplete<T extends z.ZodType>(messages: readonly ChatMessage[], options: SchemaOptions<T>): Promise<z.infer<T>>;
  chatComplete(
    messages: readonly ChatMessage[],
    options?: AskOptions & { readonly schema?: undefined },
  ): Promise<string>;
  chatComplete(
    messages: readonly ChatMessage[],
    options: AskOptions & { readonly schema?: z.ZodType | undefined } = {},
  ): Promise<unknown> {
    return this.#answer(messages, options);
  }

  /** Like `chatComplete`, with tools: returns the whole reply. The caller answers its tool calls with `tool` messages. */
  async chatWithTools(messages: readonly ChatMessage[], options: ToolOptions = {}): Promise<ChatReply> {
    const { tools, toolChoice } = options;
    return this.#complete(messages, options, {
      ...(tools === undefined ? {} : { tools }),
      ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    });
  }

  /** Sends one user message and yields the reply as `chatStream` does. */
  askStream(prompt: string, options: AskOptions = {}): AsyncGenerator<string, void> {
    return this.chatStream([{ role: 'user', content: prompt }], options);
  }

  /** Sends messages and yields the reply as it arrives. Leaving the loop ends the request. Throws as `chatComplete` does. */
  async *chatStream(messages: readonly ChatMessage[], options: AskOptions = {}): AsyncGenerator<string, void> {
    const service = await this.#connect();
    const startedAt = performance.now();
    let retries = 0;
    let usage: { prompt_tokens?: number; completion_tokens?: number } | null | undefined;
    let length = 0;
    const body = completionBody(this.model, messages, { stream: true, stream_options: { include_usage: true } });
    const chunks = service.stream(body, callOptions(options), (count) => {
      retries = count;
    });
    for await (const { choices, usage: counted } of chunks) {
      usage = counted ?? usage;
      const text = choices[0]?.delta.content;
      if (typeof text === 'string' && text !== '') {
        length += text.length;
        yield text;
      }
      this.#checkFinish(choices[0]?.finish_reason ?? 'stop');
    }
    this.#report(startedAt, usage, retries);
    if (length === 0) throw this.#badReply('the reply is empty');
  }

  async #answer(
    messages: readonly ChatMessage[],
    options: AskOptions & { readonly schema?: z.ZodType | undefined },
  ): Promise<unknown> {
    const { schema } = options;
    if (schema === undefined) return this.#text(messages, options, {});
    const jsonSchema = await jsonSchemaOf(schema);
    const isInRequest = this.#endpoint.takesJsonSchema;
    const extra = isInRequest ? { response_format: responseFormat(jsonSchema) } : {};
    const asked = isInRequest ? messages : [{ role: 'system', content: schemaInstruction(jsonSchema) }, ...messages];
    const reply = await this.#text(asked, options, extra);
    const first = await parseReply(schema, reply);
    if (first.ok) return first.value;
    const repair = [
      ...asked,
      { role: 'assistant', content: reply },
      { role: 'user', content: repairRequest(first.issues) },
    ];
    const second = await parseReply(schema, await this.#text(repair, options, extra));
    if (second.ok) return second.value;
    throw this.#badReply(`the reply does not match the schema, even after it was sent back:\n${second.issues}`);
  }

  async #text(messages: readonly ChatMessage[], options: AskOptions, extra: object): Promise<string> {
    const { content, finishReason } = await this.#complete(messages, options, extra);
    this.#checkFinish(finishReason);
    if (content.trim() === '') throw this.#badReply(`the reply is empty (finish reason: ${finishReason})`);
    return content;
  }

  async #complete(messages: readonly ChatMessage[], options: AskOptions, extra: object): Promise<ChatReply> {
    const service = await this.#connect();
    const startedAt = performance.now();
    const body = completionBody(this.model, messages, extra);
    const { value, retries } = await service.complete(body, callOptions(options));
    this.#report(startedAt, value.usage, retries);
    const [choice] = value.choices;
    if (choice === undefined) throw this.#badReply('the reply has no choices');
    const toolCalls = (choice.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }] : [],
    );
    return { content: choice.message.content ?? '', toolCalls, finishReason: choice.finish_reason };
  }

  #connect(): Promise<Completions> {
    return hosted(scopes.getStore(), this.#endpoint, () => this.#connectToService());
  }

  /** @throws AppError `not-signed-in` that names the variable if the service needs a key and there is none. */
  async #connectToService(): Promise<Completions> {
    const { keyVariable, needsKey, keyAdvice } = this.#endpoint;
    const key = await serviceKey(this.#apiKey, keyVariable);
    if (key === undefined && needsKey) throw new AppError('not-signed-in', keyAdvice);
    this.#service ??= import('./service.ts').then(
      ({ ChatService: Service }) => new Service(this.#endpoint, key, this.#fetch),
    );
    return this.#service;
  }

  #checkFinish(reason: string): void {
    if (reason === 'length') {
      throw this.#badReply("the reply was cut off at the model's output limit. Ask for less at a time");
    }
    if (reason === 'content_filter') throw this.#badReply('the reply was held back by the content filter');
  }

  #badReply(what: string): AppError {
    return new AppError('corrupt', `${this.provider} (${this.model}): ${what}.`);
  }

  #report(
    startedAt: number,
    usage: { prompt_tokens?: number; completion_tokens?: number } | null | undefined,
    retries: number,
  ): void {
    const [input, output] = [usage?.prompt_tokens, usage?.completion_tokens];
    scopes.getStore()?.visit?.model({
      provider: this.provider,
      model: this.model,
      durationMs: performance.now() - startedAt,
      inputTokens: input,
      outputTokens: output,
      estimatedCost: estimateCost(this.#endpoint, { input, output }, this.#price),
      retries,
    });
  }
}

function callOptions({
  retries = DEFAULT_RETRIES,
  timeout = DEFAULT_TIMEOUT_SECONDS,
  signal,
}: AskOptions): CallOptions {
  return { retries, timeoutMs: timeout * 1000, signal: eitherSignal(signal, scopes.getStore()?.signal) };
}
