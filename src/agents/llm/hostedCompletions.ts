import type { ChatCompletion } from 'openai/resources/chat/completions';
import { AppError } from '../../core/errors.ts';
import type { Run } from '../run/run.ts';
import type { HostedRun, ModelExchange } from '../run/runHost.ts';
import { type Chunk, isCompletion } from './completion.ts';
import { estimateCost } from './prices.ts';
import type { Endpoint } from './providers.ts';
import type { ChatService } from './service.ts';

/** What a client needs of a chat completions service. */
export interface Completions extends Pick<ChatService, 'complete'> {
  stream(...request: Parameters<ChatService['stream']>): AsyncGenerator<Chunk, void>;
}

/** The service itself; in a hosted run, a wrapper whose host sees every exchange and may supply the reply. */
export async function hosted(
  run: Run | undefined,
  endpoint: Endpoint,
  connect: () => Promise<Completions>,
): Promise<Completions> {
  const host = run?.hosted;
  if (host === undefined) return connect();
  const { path, number: visit } = run?.visit ?? {};
  return new HostedCompletions(host, endpoint, { path, visit }, connect);
}

/** The part of a completion that determines its price. */
interface Counted {
  readonly choices: readonly unknown[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null | undefined;
}

class HostedCompletions implements Completions {
  readonly #host: HostedRun;
  readonly #endpoint: Endpoint;
  readonly #place: Pick<ModelExchange, 'path' | 'visit'>;
  readonly #connect: () => Promise<Completions>;

  constructor(
    host: HostedRun,
    endpoint: Endpoint,
    place: Pick<ModelExchange, 'path' | 'visit'>,
    connect: () => Promise<Completions>,
  ) {
    this.#host = host;
    this.#endpoint = endpoint;
    this.#place = place;
    this.#connect = connect;
  }

  async complete(...[body, options]: Parameters<Completions['complete']>): ReturnType<Completions['complete']> {
    const request = { ...body };
    const startedAt = performance.now();
    const known = this.#find(request);
    const answer =
      known === undefined ? await (await this.#connect()).complete(body, options) : { value: known, retries: 0 };
    this.#report(request, answer.value, startedAt);
    return answer;
  }

  async *stream(...[body, options, onRetries]: Parameters<Completions['stream']>): ReturnType<Completions['stream']> {
    const { stream: _stream, stream_options: _options, ...request } = body;
    const startedAt = performance.now();
    const known = this.#find(request);
    const chunks = known === undefined ? (await this.#connect()).stream(body, options, onRetries) : [chunkOf(known)];
    let content = '';
    let usage: Chunk['usage'];
    let reason = 'stop';
    for await (const chunk of chunks) {
      content += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
      reason = chunk.choices[0]?.finish_reason ?? reason;
      yield chunk;
    }
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: reason };
    this.#report(request, { choices: [choice], ...(usage && { usage }) }, startedAt);
  }

  #find(request: ModelExchange['request']): ChatCompletion | undefined {
    const { provider } = this.#endpoint;
    const known = this.#host.findCompletion(provider, request);
    if (known === undefined || isCompletion(known)) return known;
    throw new AppError('corrupt', `The recorded reply of ${provider} is not a completion. Record the run again.`);
  }

  #report(request: ModelExchange['request'], completion: Counted, startedAt: number): void {
    const { prompt_tokens: input, completion_tokens: output } = completion.usage ?? {};
    const cost = estimateCost(this.#endpoint, { input, output });
    const durationMs = performance.now() - startedAt;
    this.#host.modelCalled({
      provider: this.#endpoint.provider,
      ...this.#place,
      request,
      completion,
      durationMs,
      cost,
    });
  }
}

/** A whole reply as the only chunk of a stream. */
function chunkOf({ choices, usage }: ChatCompletion): Chunk {
  const [choice] = choices;
  return {
    choices: [{ delta: { content: choice?.message.content ?? '' }, finish_reason: choice?.finish_reason ?? 'stop' }],
    usage: usage ?? null,
  };
}
