import type { Endpoint } from '../llm/providers.ts';
import type { CountedTokens } from '../llm/usage.ts';
import type { GenAiCall } from '../run/genAiSpan.ts';
import type { Attributes } from '../run/openTelemetry.ts';

// The names of the conventions where they differ from ours.
const PROVIDERS: Readonly<Record<string, string>> = { gemini: 'gcp.gemini', mistral: 'mistral_ai', xai: 'x_ai' };

// Fields of the request by their attribute.
const PARAMETERS = {
  'gen_ai.request.temperature': 'temperature',
  'gen_ai.request.top_p': 'top_p',
  'gen_ai.request.frequency_penalty': 'frequency_penalty',
  'gen_ai.request.presence_penalty': 'presence_penalty',
  'gen_ai.request.seed': 'seed',
} as const;

/** The name of a provider in attributes. */
export function providerName(provider: string): string {
  return PROVIDERS[provider] ?? provider;
}

/** The span of a request to a model. It has no prompt and no reply. */
export function chatCall({ provider, model, baseUrl }: Endpoint, body: Readonly<Record<string, unknown>>): GenAiCall {
  const { hostname, port, protocol } = new URL(baseUrl);
  const parameters = Object.entries(PARAMETERS).map(
    ([attribute, field]) => [attribute, numberOf(body[field])] as const,
  );
  const { stop, n } = body;
  return {
    operation: 'chat',
    name: model,
    attributes: {
      'gen_ai.provider.name': providerName(provider),
      'gen_ai.request.model': model,
      ...Object.fromEntries(parameters),
      'gen_ai.request.max_tokens': numberOf(body['max_completion_tokens']) ?? numberOf(body['max_tokens']),
      'gen_ai.request.choice.count': n === 1 ? undefined : numberOf(n),
      'gen_ai.request.stop_sequences': typeof stop === 'string' ? [stop] : textsOf(stop),
      'gen_ai.output.type': body['response_format'] === undefined ? undefined : 'json',
      'server.address': hostname,
      'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    },
  };
}

/** The attributes that a response adds to the span. */
export function replyAttributes(reply: {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly finishReasons: readonly string[];
  readonly tokens: CountedTokens;
}): Attributes {
  const { id, model, finishReasons, tokens } = reply;
  return {
    'gen_ai.response.id': typeof id === 'string' ? id : undefined,
    'gen_ai.response.model': typeof model === 'string' ? model : undefined,
    'gen_ai.response.finish_reasons': finishReasons.length === 0 ? undefined : finishReasons,
    'gen_ai.usage.input_tokens': tokens.input,
    'gen_ai.usage.output_tokens': tokens.output,
    'gen_ai.usage.cache_read.input_tokens': tokens.cachedInput || undefined, // only if it is not zero
    'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning || undefined,
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}
