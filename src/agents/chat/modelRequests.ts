import { AppError } from '../../core/errors.ts';
import { type RunScope, eitherSignal, scopes } from '../run/runScope.ts';
import { MAX_TIMER_SECONDS } from '../schema/optionShape.ts';
import { completionBody, replyText, toolCallsOf } from '../llm/completion.ts';
import { inGenAiSpan, startGenAiSpan } from '../run/genAiSpan.ts';
import { chatCall, replyAttributes } from './chatSpan.ts';
import { type Completions, hosted } from './hostedCompletions.ts';
import type { AskOptions, ChatMessage, ChatReply, ModelParams, Usage } from './chatMessages.ts';
import { budgetPrice, estimateCallCost, type ModelPrice } from '../llm/prices.ts';
import type { Endpoint } from '../llm/providers.ts';
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
}

type Counted = { prompt_tokens?: number; completion_tokens?: number } | null | undefined;

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
      const tokens = { inputTokens: counted?.prompt_tokens, outputTokens: counted?.completion_tokens };
      span.set(replyAttributes({ id, model, finishReasons, ...tokens }));
      return response;
    });
    const [choice] = value.choices;
    const content = replyText(choice?.message.content);
    const usage = this.#report(scope, { startedAt, retries, counted: value.usage, messages, length: content.length });
    if (choice === undefined) throw this.badReply('the reply has no choices');
    this.#checkRefusal(choice.message.refusal);
    const { tool_calls: calls } = choice.message;
    const toolCalls = toolCallsOf(calls);
    const message = {
      role: 'assistant',
      content: choice.message.content ?? null,
      ...(toolCalls.length > 0 && calls && { tool_calls: calls }),
    };
    return { content, toolCalls, finishReason: choice.finish_reason, usage, message };
  }

  /** Sends one request and yields the text of the reply as it arrives. */
  async *stream(messages: readonly ChatMessage[], options: AskOptions, fields: object): AsyncGenerator<string, void> {
    const { scope, service } = await this.#begin();
    const startedAt = performance.now();
    let retries = 0;
    let counted: Counted;
    let length = 0;
    let refusal = '';
    const extra = {
      ...this.#params(options),
      ...fields,
      stream: true as const,
      stream_options: { include_usage: true },
    };
    const body = completionBody(this.#endpoint.model, messages, extra);
    const chunks = service.stream(body, callOptions(options, scope, this.#endpoint), (count) => {
      retries = count;
    });
    const span = await startGenAiSpan(chatCall(this.#endpoint, { ...body }));
    const finishReasons: string[] = [];
    let failure: unknown;
    let isReported = false;
    const report = (): void => {
      if (isReported) return;
      isReported = true;
      this.#report(scope, { startedAt, retries, counted, messages, length });
      const tokens = { inputTokens: counted?.prompt_tokens, outputTokens: counted?.completion_tokens };
      span.set(replyAttributes({ finishReasons, ...tokens }));
      span.end(failure);
    };
    try {
      for await (const { choices, usage } of chunks) {
        counted = usage ?? counted;
        const { content: delta, refusal: refused } = choices[0]?.delta ?? {};
        refusal += refused ?? '';
        const text = replyText(delta);
        if (text !== '') {
          length += text.length;
          scope?.visit?.token(text);
          yield text;
        }
        const reason = choices[0]?.finish_reason;
        if (typeof reason === 'string') finishReasons.push(reason);
        this.checkFinish(reason ?? 'stop');
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      report(); // tokens received before a failure are spent too
    }
    this.#checkRefusal(refusal);
    if (length === 0) throw this.badReply('the reply is empty');
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

  #checkRefusal(refusal: string | null | undefined): void {
    if (typeof refusal === 'string' && refusal !== '') throw new RefusalError(this.#name, refusal);
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
    const { apiKey, fetch } = this.#settings;
    const { key, renewKey } = await endpointKey(apiKey, this.#endpoint);
    if (key === undefined && needsKey) throw new AppError('not-signed-in', keyAdvice);
    const { ChatEndpoint: Service } = await import('../llm/chatEndpoint.ts');
    // Azure takes keys in a header of its own, but tokens as bearer tokens like the others.
    const endpoint = typeof apiKey === 'function' ? { ...this.#endpoint, keyHeader: undefined } : this.#endpoint;
    return new Service(endpoint, key, { fetch, renewKey });
  }

  #report(
    scope: RunScope | undefined,
    {
      startedAt,
      retries,
      counted,
      messages,
      length,
    }: { startedAt: number; retries: number; counted: Counted; messages: readonly ChatMessage[]; length: number },
  ): Usage {
    const [input, output] = [counted?.prompt_tokens, counted?.completion_tokens];
    const { price } = this.#settings;
    const usage = {
      inputTokens: input,
      outputTokens: output,
      cost: estimateCallCost(this.#endpoint, { input, output }, price),
    };
    const { provider, model } = this.#endpoint;
    const durationMs = performance.now() - startedAt;
    const { cost: estimatedCost, ...tokens } = usage;
    scope?.visit?.model({ provider, model, durationMs, ...tokens, estimatedCost, retries });
    if (scope?.run.budget === undefined) return usage;
    // Some services report no tokens. A rough number is better than an unlimited run.
    const spentInput = input ?? Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN);
    const spentOutput = output ?? Math.ceil(length / CHARACTERS_PER_TOKEN);
    const listed = budgetPrice(this.#endpoint, price);
    const cost = listed && (spentInput * listed.input + spentOutput * listed.output) / 1_000_000;
    scope.run.budget.spend(spentInput + spentOutput, cost);
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
