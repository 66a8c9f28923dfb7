import type { ChatCompletion } from 'openai/resources/chat/completions';
import { AppError } from '../../core/errors.ts';
import type { RunScope } from '../run/runScope.ts';
import type { ModelExchange } from '../run/runHost.ts';
import { type CompletionChunk, isCompletion, replyText } from '../llm/completion.ts';
import { estimateCallCost } from '../llm/prices.ts';
import type { Endpoint } from '../llm/providers.ts';
import { ReplyBuilder } from '../llm/replyBuilder.ts';
import { countedTokens } from '../llm/usage.ts';
import type { ChatEndpoint } from '../llm/chatEndpoint.ts';

/** What a client needs of a chat completions service. */
export type Completions = Pick<ChatEndpoint, 'complete' | 'stream'>;

/** The service itself; in a hosted run, a wrapper whose host sees every exchange and may supply the reply. */
export async function hosted(
  scope: RunScope | undefined,
  endpoint: Endpoint,
  connect: () => Promise<Completions>,
): Promise<Completions> {
  const host = scope?.run.hosted;
  if (host === undefined) return connect();
  const { provider } = endpoint;
  const { path, number: visit } = scope?.visit ?? {};
  const find = (request: ModelExchange['request']): ChatCompletion | undefined => {
    const replayed = host.findCompletion(provider, request);
    if (replayed === undefined || isCompletion(replayed)) return replayed;
    throw new AppError('corrupt', `The recorded reply of ${provider} is not a completion. Record the run again.`);
  };
  const report = (request: ModelExchange['request'], completion: Counted, startedAt: number): void => {
    const cost = estimateCallCost(endpoint, countedTokens(completion.usage));
    const durationMs = performance.now() - startedAt;
    host.modelCalled({ provider, path, visit, request, completion, durationMs, cost });
  };
  return {
    async complete(body, options) {
      const request = { ...body };
      const startedAt = performance.now();
      const replayed = find(request);
      const answer =
        replayed === undefined ? await (await connect()).complete(body, options) : { value: replayed, retries: 0 };
      report(request, answer.value, startedAt);
      return answer;
    },
    async *stream(body, options, onRetries) {
      const { stream: _stream, stream_options: _options, ...request } = body;
      const startedAt = performance.now();
      const replayed = find(request);
      const chunks = replayed === undefined ? (await connect()).stream(body, options, onRetries) : chunksOf(replayed);
      const builder = new ReplyBuilder();
      let isFailed = false;
      try {
        for await (const chunk of chunks) {
          builder.add(chunk);
          yield chunk;
        }
      } catch (error) {
        isFailed = true;
        throw error;
      } finally {
        const { message, finishReason, usage } = builder;
        const choice = { index: 0, message, finish_reason: finishReason };
        // Includes what arrived before the flow left the stream.
        if (!isFailed) report(request, { choices: [choice], ...(usage && { usage }) }, startedAt);
      }
    },
  };
}

/** The part of a completion that determines its price. */
interface Counted {
  readonly choices: readonly unknown[];
  readonly usage?: unknown;
}

/** A whole reply word by word, because code that reads a stream may stop in the middle. */
function chunksOf({ choices: [choice], usage }: ChatCompletion): CompletionChunk[] {
  const { content, ...fields }: { readonly content?: unknown } = choice?.message ?? {};
  const words = replyText(content).split(/(?<=\s)(?=\S)/);
  const last = words.length - 1;
  return words.map((word, index) => ({
    choices: [
      {
        delta: { ...(index === 0 && fields), content: word },
        finish_reason: index === last ? (choice?.finish_reason ?? 'stop') : null,
      },
    ],
    usage: index === last ? (usage ?? null) : null,
  }));
}
