import { checkOptions, type OptionShape } from '../schema/optionShape.ts';
import { jsonSchemaAdvice } from '../schema/jsonSchema.ts';
import { eitherSignal, scopes } from '../run/runScope.ts';
import type { Tool } from '../tools/tool.ts';
import { runToolLoop, type RunToolsOptions, type ToolRun } from './toolLoop.ts';
import { type ToolStream, toolStream } from './toolStream.ts';
import type { Schema } from '../schema/standardSchema.ts';
import type { AskOptions, ChatMessage, ChatReply, ModelParams, ToolOptions } from './chatMessages.ts';
import { providerName } from './chatSpan.ts';
import { CHAT_TOOL_OPTIONS, checkCall, checkPrompt, checkToolCall } from './checkedCall.ts';
import { firstReply, firstStream } from './modelFallback.ts';
import { ModelRequests } from './modelRequests.ts';
import type { ModelPrice } from '../llm/prices.ts';
import { type Endpoint, type EndpointOptions, resolveEndpoint } from '../llm/providers.ts';
import { selectedModel } from '../llm/selectedModel.ts';
import type { ModelApiKey } from '../llm/endpointKey.ts';
import { serviceRules } from '../llm/serviceRules.ts';
import { writeWarning } from '../run/runState.ts';
import { repairRequest, StructuredReply } from './structured.ts';

export interface LLMClientOptions extends EndpointOptions {
  /** The interface of the service; chat completions if absent, except for models that only have `responses`. */
  readonly api?: 'chat' | 'responses' | undefined;
  /** The key itself, or a function that returns a token that expires; takes precedence over variables. */
  readonly apiKey?: ModelApiKey | undefined;
  /** Sends the requests. The default uses the proxies of the environment and the system's certificates. */
  readonly fetch?: typeof fetch;
  /** US dollars for a million tokens, for models without a known list price. */
  readonly price?: ModelPrice;
  /** Fields of every request, such as `{ temperature: 0 }`. Those of a call override them. */
  readonly params?: ModelParams | undefined;
  /** Whether to mark, for services that need it (Claude behind OpenRouter or a proxy), up to where a prompt is stored for the next request. */
  readonly promptCache?: boolean | undefined;
  /** Clients that take over, in their order, when this one fails for good. */
  readonly fallback?: readonly LLMClient[] | undefined;
}

interface SchemaOptions<T> extends AskOptions {
  /** Of zod 4, or another library that follows Standard Schema. */
  readonly schema: Schema<T>;
  /** How often a reply that does not match is sent back with the issues; 1 if absent. */
  readonly repairs?: number | undefined;
}

interface TextOptions extends AskOptions {
  readonly schema?: undefined;
}

type AnyOptions = AskOptions & { readonly schema?: Schema | undefined; readonly repairs?: number | undefined };

/** What has arrived of a value: any key may still be missing. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;

const CLIENT_OPTIONS: OptionShape = {
  provider: 'string',
  model: 'string',
  api: 'string',
  apiKey: 'string or function',
  apiKeyEnv: 'string',
  baseUrl: 'string',
  fetch: 'function',
  price: 'object',
  params: 'object',
  promptCache: 'boolean',
  fallback: 'any',
};

/** Sends prompts to a language model through chat completions, or OpenAI's Responses API. The `openai` package is loaded with the first request. */
export class LLMClient {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly #endpoint: Endpoint;
  readonly #requests: ModelRequests;
  /** This client, and those that take over when it fails. */
  readonly #models: readonly LLMClient[];
  /** The libraries of schemas that were reported as unseen by the model. */
  readonly #unseen = new Set<string>();

  /**
   * @throws AppError `bad-input` for an unknown provider or an invalid `baseUrl`, TypeError for an option of the wrong type. Only
   * requests need a key.
   */
  constructor(options: LLMClientOptions = {}) {
    checkOptions('new LLMClient', options, CLIENT_OPTIONS);
    if (options.api !== undefined && options.api !== 'chat' && options.api !== 'responses') {
      throw new TypeError("The option api of new LLMClient must be 'chat' or 'responses'.");
    }
    this.#endpoint = resolveEndpoint(options, selectedModel());
    this.provider = this.#endpoint.provider;
    this.model = this.#endpoint.model;
    this.baseUrl = this.#endpoint.baseUrl;
    this.#requests = new ModelRequests(this.#endpoint, options);
    this.#models = [this, ...clientsOf(options.fallback).flatMap((client) => client.#models)];
  }

  /** Sends one user message and returns the reply: text, or a value of the schema. Throws as `chatComplete` does. */
  ask<T>(prompt: string, options: SchemaOptions<T>): Promise<T>;
  ask(prompt: string, options?: TextOptions): Promise<string>;
  async ask(prompt: string, options: AnyOptions = {}): Promise<unknown> {
    checkPrompt('ask', prompt);
    return this.#answer('ask', [{ role: 'user', content: prompt }], options);
  }

  /**
   * Sends messages and returns the reply. With a schema the model has to write JSON; a reply that does not match is sent back with the
   * issues, `repairs` times.
   *
   * @throws AppError that names provider and model if the key is missing, the service fails, or the reply is empty, cut off
   * or does not match the schema in the end; RefusalError if the model declined; the signal's reason on abort.
   */
  chatComplete<T>(messages: readonly ChatMessage[], options: SchemaOptions<T>): Promise<T>;
  chatComplete(messages: readonly ChatMessage[], options?: TextOptions): Promise<string>;
  chatComplete(messages: readonly ChatMessage[], options: AnyOptions = {}): Promise<unknown> {
    return this.#answer('chatComplete', messages, options);
  }

  /** Sends messages, with or without tools, and returns the whole reply. The caller answers its tool calls with `tool` messages. */
  async chatWithTools(messages: readonly ChatMessage[], options: ToolOptions = {}): Promise<ChatReply> {
    checkCall('chatWithTools', messages, options, CHAT_TOOL_OPTIONS);
    const { tools, toolChoice } = options;
    const extra = {
      ...(tools === undefined ? {} : { tools }),
      ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    };
    return firstReply(this.#models, options.signal, (client) => client.#requests.complete(messages, options, extra));
  }

  /**
   * Sends messages, calls the tools that the model asks for, and returns its reply. Arguments that do not match, an unknown tool, a tool that
   * throws and a refused approval go back to the model as the tool's result.
   *
   * @throws ToolLimitError when the model still calls tools in its reply number `maxSteps`, and as `chatComplete` does.
   */
  async runTools(
    messages: readonly ChatMessage[],
    tools: readonly Tool[],
    options: RunToolsOptions = {},
  ): Promise<ToolRun> {
    checkToolCall('runTools', { messages, tools, options });
    // A model that has failed is not tried again in the same loop.
    let models = this.#models;
    const complete = (conversation: readonly ChatMessage[], extra: object): Promise<ChatReply> =>
      firstReply(models, options.signal, async (client) => {
        const reply = await client.#requests.complete(conversation, options, extra);
        client.#requests.checkFinish(reply.finishReason);
        models = models.slice(models.indexOf(client));
        return reply;
      });
    return this.#toolLoop(messages, { complete, tools, options, onEvent: undefined });
  }

  /**
   * Does what `runTools` does, and yields what happens as it happens: pieces of the text and the reasoning, calls, and their results. It
   * begins at once. Read the events or await `result`: both end with the errors of `runTools`.
   *
   * @throws TypeError or RangeError for options that are not valid.
   */
  streamTools(messages: readonly ChatMessage[], tools: readonly Tool[], options: RunToolsOptions = {}): ToolStream {
    checkToolCall('streamTools', { messages, tools, options });
    return toolStream((onEvent, left) => {
      const ending = { ...options, signal: eitherSignal(options.signal, left) };
      let models = this.#models;
      const complete = async (conversation: readonly ChatMessage[], extra: object): Promise<ChatReply> => {
        const pieces = firstStream(models, ending.signal, (client) => {
          models = models.slice(models.indexOf(client));
          return client.#requests.streamReply(conversation, ending, extra);
        });
        for (;;) {
          const { done, value } = await pieces.next();
          if (done === true) return value;
          onEvent(value);
        }
      };
      return this.#toolLoop(messages, { complete, tools, options: ending, onEvent });
    });
  }

  #toolLoop(
    messages: readonly ChatMessage[],
    parts: Pick<Parameters<typeof runToolLoop>[1], 'complete' | 'tools' | 'options' | 'onEvent'>,
  ): Promise<ToolRun> {
    const { signal: outer, visit } = scopes.getStore() ?? {};
    const signal = eitherSignal(parts.options.signal, outer) ?? new AbortController().signal;
    const { provider, model } = this;
    const agent = { name: visit?.node ?? model, provider: providerName(provider), model };
    return runToolLoop(messages, { ...parts, signal, agent });
  }

  /** Sends one user message and yields the reply as `chatStream` does. */
  askStream<T>(prompt: string, options: SchemaOptions<T>): AsyncGenerator<DeepPartial<T>, void>;
  askStream(prompt: string, options?: TextOptions): AsyncGenerator<string, void>;
  async *askStream(prompt: string, options: AnyOptions = {}): AsyncGenerator<unknown, void> {
    checkPrompt('askStream', prompt);
    yield* this.#streamed('askStream', [{ role: 'user', content: prompt }], options);
  }

  /**
   * Sends messages and yields the reply as it arrives. With a schema, yields what has arrived of the value, unchecked, and at last the
   * whole value. Leaving the loop ends the request. Throws as `chatComplete` does.
   */
  chatStream<T>(messages: readonly ChatMessage[], options: SchemaOptions<T>): AsyncGenerator<DeepPartial<T>, void>;
  chatStream(messages: readonly ChatMessage[], options?: TextOptions): AsyncGenerator<string, void>;
  chatStream(messages: readonly ChatMessage[], options: AnyOptions = {}): AsyncGenerator<unknown, void> {
    return this.#streamed('chatStream', messages, options);
  }

  async *#streamed(
    method: string,
    messages: readonly ChatMessage[],
    options: AnyOptions,
  ): AsyncGenerator<unknown, void> {
    checkCall(method, messages, options);
    yield* firstStream(this.#models, options.signal, (client) => client.#pieces(messages, options));
  }

  async *#pieces(messages: readonly ChatMessage[], options: AnyOptions): AsyncGenerator<unknown, void> {
    const { schema } = options;
    if (schema === undefined) {
      yield* this.#requests.stream(messages, options, {});
      return;
    }
    const { structured, sent } = await this.#structured(messages, schema, true);
    const partials = structured.partials();
    let reply = '';
    for await (const text of this.#requests.stream(sent, options, structured.fields)) {
      reply += text;
      yield* partials(reply);
    }
    yield await this.#value(structured, reply, { sent, options });
  }

  async #answer(method: string, messages: readonly ChatMessage[], options: AnyOptions): Promise<unknown> {
    checkCall(method, messages, options);
    return firstReply(this.#models, options.signal, (client) => client.#reply(messages, options));
  }

  async #reply(messages: readonly ChatMessage[], options: AnyOptions): Promise<unknown> {
    const { schema } = options;
    if (schema === undefined) return this.#text(messages, options, {});
    const { structured, sent } = await this.#structured(messages, schema, false);
    return this.#value(structured, await this.#text(sent, options, structured.fields), { sent, options });
  }

  async #structured(
    messages: readonly ChatMessage[],
    schema: Schema,
    isStreamed: boolean,
  ): Promise<{ readonly structured: StructuredReply; readonly sent: readonly ChatMessage[] }> {
    const { provider, model } = this.#endpoint;
    const structured = await StructuredReply.of(schema, { rules: serviceRules(provider), model, isStreamed });
    const { vendor } = schema['~standard'];
    if (!structured.isSeen && !this.#unseen.has(vendor)) {
      this.#unseen.add(vendor);
      const advice = jsonSchemaAdvice(schema);
      writeWarning(`The model does not see schemas of "${vendor}": its replies are only checked. ${advice}.`);
    }
    const { instruction } = structured;
    const sent = instruction === undefined ? messages : [{ role: 'system', content: instruction }, ...messages];
    return { structured, sent };
  }

  /** The value of a reply, sent back with the issues as often as `repairs` allows. */
  async #value(
    structured: StructuredReply,
    firstReply: string,
    { sent, options }: { readonly sent: readonly ChatMessage[]; readonly options: AnyOptions },
  ): Promise<unknown> {
    const { repairs = 1 } = options;
    let conversation = sent;
    let reply = firstReply;
    for (let repair = 0; ; repair += 1) {
      const parsed = await structured.parse(reply);
      if (parsed.ok) return parsed.value;
      if (repair >= repairs) {
        const attempts =
          repairs === 0 ? '' : `, even after it was sent back${repairs === 1 ? '' : ` ${repairs} times`}`;
        throw this.#requests.badReply(`the reply does not match the schema${attempts}:\n${parsed.issues}`);
      }
      conversation = [
        ...conversation,
        { role: 'assistant', content: reply },
        { role: 'user', content: repairRequest(parsed.issues) },
      ];
      reply = await this.#text(conversation, options, structured.fields);
    }
  }

  async #text(messages: readonly ChatMessage[], options: AskOptions, extra: object): Promise<string> {
    const { content, finishReason } = await this.#requests.complete(messages, options, extra);
    this.#requests.checkFinish(finishReason);
    if (content.trim() !== '') return content;
    throw this.#requests.badReply(`the reply is empty (finish reason: ${finishReason})`);
  }
}

/** @throws TypeError for what is no list of clients. */
function clientsOf(fallback: unknown): readonly LLMClient[] {
  if (fallback === undefined) return [];
  if (Array.isArray(fallback) && fallback.every((client) => client instanceof LLMClient)) return fallback;
  throw new TypeError('The option fallback of new LLMClient must be an array of clients: [new LLMClient({ … })].');
}
