import { AppError } from '../../core/errors.ts';
import { type RunScope, eitherSignal, scopes } from '../run/runScope.ts';
import { MAX_TIMER_SECONDS } from '../schema/optionShape.ts';
import { completionBody, replyText, toolCallsOf } from '../llm/completion.ts';
import { inGenAiSpan, startGenAiSpan } from '../run/genAiSpan.ts';
import { chatCall, replyAttributes } from './chatSpan.ts';
import { type Completions, hosted } from './hostedCompletions.ts';
import type { AskOptions, ChatMessage, ChatReply, ModelParams, ReplyPiece, Usage } from './chatMessages.ts';
import { budgetPrice, costOf, estimateCallCost, type ModelPrice } from '../llm/prices.ts';
import { reasoningFieldsOf, reasoningText, splitThink, ThinkSplitter } from '../llm/reasoning.ts';
import { AdaptiveEndpoint } from '../llm/adaptiveEndpoint.ts';
import { ReplyBuilder } from '../llm/replyBuilder.ts';
import { countedTokens } from '../llm/usage.ts';
import type { Endpoint, ModelApi } from '../llm/providers.ts';
import type { CallOptions } from '../llm/chatEndpoint.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../llm/responseTimeout.ts';
import { type ModelApiKey, endpointKey } from '../llm/endpointKey.ts';

const DEFAULT_RETRIES = 3;
const CHARACTERS_PER_TOKEN = 4;

export interface ModelRequestSettings {
  readonly apiKey?: ModelApiKey | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly price?: ModelPrice | undefined;
  readonly params?: ModelParams | undefined;
  readonly api?: ModelApi | undefined;
  readonly promptCache?: boolean | undefined;
}

/** The requests of a client to one model. Each is checked against the budget of its run, ends with the run, and is reported to it. */
export class ModelRequests {
  readonly #endpoint: Endpoint;
  readonly #settings: ModelRequestSettings;
  #service: Promise<Completions> | undefined;

  constructor(endpoint: Endpoint, settings: ModelRequestSettings) {
    this.#endpoint = endpoint;
    this.#settings = settings;
  }

  /** Sends one request. The reply may be cut off, empty, or only tool calls. */
  async complete(messages: readonly ChatMessage[], options: AskOptions, extra: object): Promise<ChatReply> {
    const { scope, service } = await this.#begin();
    const startedAt = performance.now();
    const body = completionBody(this.#endpoint.model, messages, { ...this.#params(options), ...extra });
    const { value, retries } = await inGenAiSpan(chatCall(this.#endpoint, { ...body }), async (span) => {
      const response = await service.complete(body, callOptions(options, scope, this.#endpoint));
      const { id, model, choices, usage: counted } = response.value;
      const finishReasons = choices.flatMap(({ finish_reason: reason }) => reason ?? []);
      span.set(replyAttributes({ id, model, finishReasons, tokens: countedTokens(counted) }));
      return response;
    });
    const [choice] = value.choices;
    const length = replyText(choice?.message.content).length;
    const usage = this.#report(scope, { startedAt, retries, counted: value.usage, messages, length });
    if (choice === undefined) throw this.badReply('the reply has no choices');
    this.#checkRefusal(choice.message.refusal);
    return this.#replyOf(choice.message, choice.finish_reason, usage);
  }

  /** Sends one request and yields the text of the reply as it arrives. */
  async *stream(messages: readonly ChatMessage[], options: AskOptions, extra: object): AsyncGenerator<string, void> {
    let isEmpty = true;
    for await (const { type, text } of this.streamReply(messages, options, extra)) {
      if (type !== 'text') continue;
      isEmpty = false;
      yield text;
    }
    if (isEmpty) throw this.badReply('the reply is empty');
  }

  /** Sends one request and yields the pieces of the reply and its reasoning as they arrive. Returns the whole reply, which may be only tool calls. */
  async *streamReply(
    messages: readonly ChatMessage[],
    options: AskOptions,
    extra: object,
  ): AsyncGenerator<ReplyPiece, ChatReply> {
    const { scope, service } = await this.#begin();
    const startedAt = performance.now();
    let retries = 0;
    let length = 0;
    const fields = {
      ...this.#params(options),
      ...extra,
      stream: true as const,
      stream_options: { include_usage: true },
    };
    const body = completionBody(this.#endpoint.model, messages, fields);
    const chunks = service.stream(body, callOptions(options, scope, this.#endpoint), (count) => {
      retries = count;
    });
    const span = await startGenAiSpan(chatCall(this.#endpoint, { ...body }));
    const builder = new ReplyBuilder();
    const splitter = new ThinkSplitter();
    const pieces = function* (type: ReplyPiece['type'], text: string): Generator<ReplyPiece> {
      if (text === '') return;
      length += text.length;
      if (type === 'text') scope?.visit?.token(text);
      else scope?.visit?.reasoning(text);
      yield { type, text };
    };
    const finishReasons: string[] = [];
    let failure: unknown;
    let isBegun = false;
    let usage: Usage | undefined;
    const report = (): Usage => {
      if (usage !== undefined) return usage;
      const counted = builder.usage;
      usage = this.#report(scope, { startedAt, retries, counted, messages, length });
      span.set(replyAttributes({ finishReasons, tokens: countedTokens(counted) }));
      span.end(failure);
      return usage;
    };
    try {
      for await (const chunk of chunks) {
        isBegun = true;
        builder.add(chunk);
        const [choice] = chunk.choices;
        const { text, reasoning } = splitter.push(replyText(choice?.delta['content']));
        yield* pieces('reasoning', reasoningText(choice?.delta) + reasoning);
        yield* pieces('text', text);
        const reason = choice?.finish_reason;
        if (typeof reason === 'string') finishReasons.push(reason);
        this.checkFinish(reason ?? 'stop');
      }
      const { text, reasoning } = splitter.end();
      yield* pieces('reasoning', reasoning);
      yield* pieces('text', text);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // Tokens that were received before a failure are spent too.
      if (failure === undefined || isBegun) report();
      else span.end(failure);
    }
    const { message, finishReason } = builder;
    this.#checkRefusal(message['refusal']);
    return this.#replyOf(message, finishReason, report());
  }

  checkFinish(reason: string): void {
    if (reason === 'length') {
      throw this.badReply("the reply was cut off at the model's output limit. Ask for less at a time");
    }
    if (reason === 'content_filter') throw this.badReply('the reply was held back by the content filter');
  }

  badReply(what: string): AppError {
    return new AppError('corrupt', `${this.#name}: ${what}.`);
  }

  get #name(): string {
    return `${this.#endpoint.provider} (${this.#endpoint.model})`;
  }

  #params({ params }: AskOptions): ModelParams {
    return { ...this.#settings.params, ...params };
  }

  #checkRefusal(refusal: unknown): void {
    if (typeof refusal === 'string' && refusal !== '') throw new RefusalError(this.#name, refusal);
  }

  /** A reply from the message of its service. */
  #replyOf(message: object, finishReason: string, usage: Usage): ChatReply {
    const { content, tool_calls: calls }: { readonly content?: unknown; readonly tool_calls?: unknown } = message;
    const { text, reasoning: thoughts } = splitThink(replyText(content));
    const reasoning = reasoningText(message) + thoughts;
    const toolCalls = toolCallsOf(calls);
    const { provider, model } = this.#endpoint;
    return {
      content: text,
      ...(reasoning !== '' && { reasoning }),
      toolCalls,
      finishReason,
      usage,
      provider,
      model,
      message: {
        role: 'assistant',
        content: typeof content === 'string' || Array.isArray(content) ? (content as ChatMessage['content']) : null,
        ...reasoningFieldsOf(message),
        ...(toolCalls.length > 0 && Array.isArray(calls) && { tool_calls: calls as unknown[] }),
      },
    };
  }

  async #begin(): Promise<{ readonly scope: RunScope | undefined; readonly service: Completions }> {
    const scope = scopes.getStore();
    const price = budgetPrice(this.#endpoint, this.#settings.price);
    scope?.run.budget?.checkCall(this.#name, price !== undefined);
    return { scope, service: await hosted(scope, this.#endpoint, () => this.#connect()) };
  }

  /** @throws AppError `not-signed-in` that names the variable if the service needs a key and there is none. */
  async #connect(): Promise<Completions> {
    this.#service ??= this.#open().catch((error: unknown) => {
      this.#service = undefined; // a key may be available next time
      throw error;
    });
    return this.#service;
  }

  async #open(): Promise<Completions> {
    const { needsKey, keyAdvice } = this.#endpoint;
    const { apiKey, api, promptCache = false, fetch } = this.#settings;
    const { key, renewKey } = await endpointKey(apiKey, this.#endpoint);
    if (key === undefined && needsKey) throw new AppError('not-signed-in', keyAdvice);
    const { ChatEndpoint } = await import('../llm/chatEndpoint.ts');
    // Azure takes keys in a header of its own, but tokens as bearer tokens like the others.
    const endpoint = typeof apiKey === 'function' ? { ...this.#endpoint, keyHeader: undefined } : this.#endpoint;
    return new AdaptiveEndpoint(new ChatEndpoint(endpoint, key, { fetch, renewKey }), endpoint, { api, promptCache });
  }

  #report(
    scope: RunScope | undefined,
    {
      startedAt,
      retries,
      counted,
      messages,
      length,
    }: { startedAt: number; retries: number; counted: unknown; messages: readonly ChatMessage[]; length: number },
  ): Usage {
    const tokens = countedTokens(counted);
    const { input, cachedInput, cacheWrite, audioInput, audioOutput, output, reasoning } = tokens;
    const { price } = this.#settings;
    const counts = {
      inputTokens: input,
      ...(cachedInput !== undefined && { cachedInputTokens: cachedInput }),
      ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
      ...(audioInput !== undefined && { audioInputTokens: audioInput }),
      ...(audioOutput !== undefined && { audioOutputTokens: audioOutput }),
      outputTokens: output,
      ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    };
    const cost = estimateCallCost(this.#endpoint, tokens, price);
    const { provider, model } = this.#endpoint;
    const durationMs = performance.now() - startedAt;
    scope?.visit?.model({ provider, model, durationMs, ...counts, estimatedCost: cost, retries });
    const usage = { ...counts, cost };
    if (scope?.run.budget === undefined) return usage;
    // Some services report no tokens. A rough number is better than an unlimited run.
    const spent = {
      ...tokens,
      input: input ?? Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN),
      output: output ?? Math.ceil(length / CHARACTERS_PER_TOKEN),
    };
    const listed = budgetPrice(this.#endpoint, price);
    scope.run.budget.spend(spent.input + spent.output, listed && costOf(spent, listed));
    return usage;
  }
}

function callOptions(
  { retries = DEFAULT_RETRIES, timeout = DEFAULT_TIMEOUT_SECONDS, signal }: AskOptions,
  scope: RunScope | undefined,
  { provider, model }: Endpoint,
): CallOptions {
  const visit = scope?.visit;
  return {
    retries,
    timeoutMs: Math.min(timeout, MAX_TIMER_SECONDS) * 1000,
    signal: eitherSignal(signal, scope?.signal),
    onWait: (seconds) => visit?.wait({ provider, model, waitMs: Math.round(seconds * 1000) }),
  };
}

/** The model declined to answer. `refusal` is its own text. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError';
  readonly refusal: string;

  constructor(model: string, refusal: string) {
    super(`${model} declined to answer: ${refusal.replace(/\.$/, '')}. Change the prompt, or handle RefusalError.`);
    this.refusal = refusal;
  }
}
