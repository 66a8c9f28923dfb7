import { checkOptions, type OptionShape } from '../schema/optionShape.ts';
import { jsonSchemaOf } from '../schema/jsonSchema.ts';
import { eitherSignal, scopes } from '../run/runScope.ts';
import type { Tool } from '../tools/tool.ts';
import { runToolLoop, type RunToolsOptions, type ToolRun } from './toolLoop.ts';
import type { Schema } from '../schema/standardSchema.ts';
import type { AskOptions, ChatMessage, ChatReply, ModelParams, ToolOptions } from './chatMessages.ts';
import { providerName } from './chatSpan.ts';
import { checkCall, checkPrompt, checkToolCall } from './checkedCall.ts';
import { ModelRequests } from './modelRequests.ts';
import type { ModelPrice } from '../llm/prices.ts';
import { type Endpoint, type EndpointOptions, resolveEndpoint } from '../llm/providers.ts';
import { selectedModel } from '../llm/selectedModel.ts';
import type { ModelApiKey } from '../llm/endpointKey.ts';
import { parseReply, repairRequest, responseFormat, schemaInstruction } from './structured.ts';

export interface LLMClientOptions extends EndpointOptions {
  /** The key itself, or a function that returns a token that expires; takes precedence over variables. */
  readonly apiKey?: ModelApiKey | undefined;
  /** Sends the requests. The default uses the proxies of the environment and the system's certificates. */
  readonly fetch?: typeof fetch;
  /** US dollars for a million tokens, for models without a known list price. */
  readonly price?: ModelPrice;
  /** Fields of every request, such as `{ temperature: 0 }`. Those of a call override them. */
  readonly params?: ModelParams | undefined;
}

interface SchemaOptions<T> extends AskOptions {
  /** Of zod 4, or another library that follows Standard Schema. */
  readonly schema: Schema<T>;
}

const CLIENT_OPTIONS: OptionShape = {
  provider: 'string',
  model: 'string',
  apiKey: 'string or function',
  apiKeyEnv: 'string',
  baseUrl: 'string',
  fetch: 'function',
  price: 'object',
  params: 'object',
};

/** Sends prompts to a language model through a chat completions API. The `openai` package is loaded with the first request. */
export class LLMClient {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly #endpoint: Endpoint;
  readonly #requests: ModelRequests;

  /**
   * @throws AppError `bad-input` for an unknown provider or an invalid `baseUrl`, TypeError for an option of the wrong type. Only
   * requests need a key.
   */
  constructor(options: LLMClientOptions = {}) {
    checkOptions('new LLMClient', options, CLIENT_OPTIONS);
    this.#endpoint = resolveEndpoint(options, selectedModel());
    this.provider = this.#endpoint.provider;
    this.model = this.#endpoint.model;
    this.baseUrl = this.#endpoint.baseUrl;
    this.#requests = new ModelRequests(this.#endpoint, options);
  }

  /** Sends one user message and returns the reply: text, or a value of the schema. Throws as `chatComplete` does. */
  ask<T>(prompt: string, options: SchemaOptions<T>): Promise<T>;
  ask(prompt: string, options?: AskOptions & { readonly schema?: undefined }): Promise<string>;
  async ask(prompt: string, options: AskOptions & { readonly schema?: Schema | undefined } = {}): Promise<unknown> {
    checkPrompt('ask', prompt);
    return this.#answer('ask', [{ role: 'user', content: prompt }], options);
  }

  /**
   * Sends messages and returns the reply. With a schema the model has to write JSON; a reply that does not match is sent back
   * once with the issues.
   *
   * @throws AppError that names provider and model if the key is missing, the service fails, or the reply is empty, cut off
   * or (twice) does not match the schema; RefusalError if the model declined; the signal's reason on abort.
   */
  chatComplete<T>(messages: readonly ChatMessage[], options: SchemaOptions<T>): Promise<T>;
  chatComplete(
    messages: readonly ChatMessage[],
    options?: AskOptions & { readonly schema?: undefined },
  ): Promise<string>;
  chatComplete(
    messages: readonly ChatMessage[],
    options: AskOptions & { readonly schema?: Schema | undefined } = {},
  ): Promise<unknown> {
    return this.#answer('chatComplete', messages, options);
  }

  /** Sends messages, with or without tools, and returns the whole reply. The caller answers its tool calls with `tool` messages. */
  async chatWithTools(messages: readonly ChatMessage[], options: ToolOptions = {}): Promise<ChatReply> {
    checkCall('chatWithTools', messages, options);
    const { tools, toolChoice } = options;
    return this.#requests.complete(messages, options, {
      ...(tools === undefined ? {} : { tools }),
      ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    });
  }

  /**
   * Sends messages, calls the tools that the model asks for, and returns its reply. Arguments that do not match, an unknown tool, a tool that
   * throws and a refused approval go back to the model as the tool's result.
   *
   * @throws AppError `limit` when the model calls tools more than `maxSteps` times, and as `chatComplete` does.
   */
  async runTools(
    messages: readonly ChatMessage[],
    tools: readonly Tool[],
    options: RunToolsOptions = {},
  ): Promise<ToolRun> {
    checkToolCall('runTools', { messages, tools, options });
    const { signal: outer, visit } = scopes.getStore() ?? {};
    const signal = eitherSignal(options.signal, outer) ?? new AbortController().signal;
    const complete = async (conversation: readonly ChatMessage[], extra: object): Promise<ChatReply> => {
      const reply = await this.#requests.complete(conversation, options, extra);
      this.#requests.checkFinish(reply.finishReason);
      return reply;
    };
    const { provider, model } = this;
    const agent = { name: visit?.node ?? model, provider: providerName(provider), model };
    return runToolLoop(messages, { complete, tools, signal, agent, options });
  }

  /** Sends one user message and yields the reply as `chatStream` does. */
  async *askStream(prompt: string, options: AskOptions = {}): AsyncGenerator<string, void> {
    checkPrompt('askStream', prompt);
    yield* this.chatStream([{ role: 'user', content: prompt }], options);
  }

  /** Sends messages and yields the reply as it arrives. Leaving the loop ends the request. Throws as `chatComplete` does. */
  async *chatStream(messages: readonly ChatMessage[], options: AskOptions = {}): AsyncGenerator<string, void> {
    checkCall('chatStream', messages, options);
    yield* this.#requests.stream(messages, options);
  }

  async #answer(
    method: string,
    messages: readonly ChatMessage[],
    options: AskOptions & { readonly schema?: Schema | undefined },
  ): Promise<unknown> {
    checkCall(method, messages, options);
    const { schema } = options;
    if (schema === undefined) return this.#text(messages, options, {});
    const jsonSchema = await jsonSchemaOf(schema);
    const isInRequest = this.#endpoint.takesJsonSchema && jsonSchema !== undefined;
    const extra = isInRequest ? { response_format: responseFormat(jsonSchema) } : {};
    const sentMessages = isInRequest
      ? messages
      : [{ role: 'system', content: schemaInstruction(jsonSchema) }, ...messages];
    const reply = await this.#text(sentMessages, options, extra);
    const first = await parseReply(schema, reply);
    if (first.ok) return first.value;
    const repair = [
      ...sentMessages,
      { role: 'assistant', content: reply },
      { role: 'user', content: repairRequest(first.issues) },
    ];
    const second = await parseReply(schema, await this.#text(repair, options, extra));
    if (second.ok) return second.value;
    const what = `the reply does not match the schema, even after it was sent back:\n${second.issues}`;
    throw this.#requests.badReply(what);
  }

  async #text(messages: readonly ChatMessage[], options: AskOptions, extra: object): Promise<string> {
    const { content, finishReason } = await this.#requests.complete(messages, options, extra);
    this.#requests.checkFinish(finishReason);
    if (content.trim() !== '') return content;
    throw this.#requests.badReply(`the reply is empty (finish reason: ${finishReason})`);
  }
}
