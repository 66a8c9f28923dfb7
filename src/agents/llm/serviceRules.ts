import type { SchemaSubset } from '../schema/strictSchema.ts';
import type { ReasoningField } from './reasoning.ts';

/** What a service expects in the requests of chat completions, beyond what all agree on. */
export interface ServiceRules {
  /** How a request carries the schema of a reply: as such, not at all but with a promise of JSON, or only in the prompt. */
  readonly replySchema: 'json_schema' | 'json_object' | 'prompt';
  readonly subset: SchemaSubset;
  /** Models that take less than the service: their replies are described in the prompt. */
  readonly promptOnly?: RegExp;
  /** Whether a streamed reply can follow a schema; true if absent. */
  readonly streamsSchema?: false;
  /** The fields of messages with reasoning that it takes back; all if absent. */
  readonly reasoningFields?: readonly ReasoningField[];
  /** The one that messages with calls of tools must have, even if it is empty. */
  readonly requiredReasoning?: ReasoningField;
  /** Models of which the service stores the beginning of a prompt only up to a mark in Anthropic's style. */
  readonly cacheMarks?: RegExp;
  /** The parameter that limits the length of a reply, for the models that refuse its other name. */
  readonly lengthLimit?: { readonly name: 'max_tokens' | 'max_completion_tokens'; readonly models?: RegExp };
}

/** Models of OpenAI that reason before they reply. */
const REASONING_MODELS = /^(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat)|codex-|computer-use)/;

const OPENAI_FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
const NUMBER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

// https://developers.openai.com/api/docs/guides/structured-outputs, "Supported schemas": the root is an object, all keys are required,
// `additionalProperties` is false, `anyOf`, definitions and recursion are fine, and no `allOf`, `not`, `if` or `dependentRequired`.
const OPENAI: SchemaSubset = {
  keywords: new Set([...NUMBER_LIMITS, 'minItems', 'maxItems', 'pattern']),
  formats: new Set(OPENAI_FORMATS),
  isOpen: false,
  optionalKeys: 'nullable',
  maxDepth: 10,
  maxProperties: 5_000,
  maxEnumValues: 1_000,
};

// https://learn.microsoft.com/azure/ai-services/openai/how-to/structured-outputs: as OpenAI, but without keywords that limit values,
// and with five levels, 100 properties and 500 values of enumerations. Services that publish less are treated alike:
// https://console.groq.com/docs/structured-outputs, https://docs.x.ai/docs/guides/structured-outputs,
// https://docs.mistral.ai/capabilities/structured_output/custom, https://openrouter.ai/docs/features/structured-outputs.
const TYPES_ONLY: SchemaSubset = {
  ...OPENAI,
  keywords: new Set(),
  formats: new Set(),
  maxDepth: 5,
  maxProperties: 100,
  maxEnumValues: 500,
};

// https://ai.google.dev/gemini-api/docs/structured-output, "JSON Schema support". A reference to itself is allowed only below keys that
// are not required, and being nullable does not count.
const GEMINI: SchemaSubset = {
  keywords: new Set(['minimum', 'maximum', 'minItems', 'maxItems']),
  formats: new Set(['date-time', 'date', 'time']),
  isOpen: true,
  optionalKeys: 'absent',
  maxDepth: 32,
  maxProperties: 5_000,
  maxEnumValues: 1_000,
};

// grammars/README.md of llama.cpp, which Ollama and LM Studio use, and
// https://docs.vllm.ai/en/latest/features/structured_outputs.html (xgrammar). Both refuse some patterns, and long repetitions.
const GRAMMAR: SchemaSubset = {
  ...GEMINI,
  keywords: new Set(['minimum', 'maximum']),
  formats: new Set(['date-time', 'date', 'time', 'uuid']),
  optionalKeys: 'nullable',
};

/** The prompt alone: nothing is assumed about the service, except that a proxy takes the marks of Claude. */
const PROMPT: ServiceRules = { replySchema: 'prompt', subset: GRAMMAR, cacheMarks: /claude/ };

const COMPLETION_TOKENS = { name: 'max_completion_tokens', models: REASONING_MODELS } as const;
const STRICT: ServiceRules = { replySchema: 'json_schema', subset: TYPES_ONLY };
const CONSTRAINED: ServiceRules = { replySchema: 'json_schema', subset: GRAMMAR };

// Looked up on 2026-11-29 in the pages named here and above. Where one says nothing, the narrower rule is taken.
const RULES: Readonly<Record<string, ServiceRules>> = {
  // https://platform.openai.com/docs/guides/reasoning: reasoning models refuse `max_tokens`.
  openai: { replySchema: 'json_schema', subset: OPENAI, reasoningFields: [], lengthLimit: COMPLETION_TOKENS },
  azure: { ...STRICT, reasoningFields: [], lengthLimit: COMPLETION_TOKENS },
  // https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk: `response_format` is ignored, and nothing is stored.
  anthropic: { replySchema: 'prompt', subset: GRAMMAR, reasoningFields: [] },
  // Signatures of thoughts are in `extra_content` of the calls of tools, which go back unchanged.
  gemini: { replySchema: 'json_schema', subset: GEMINI, reasoningFields: [] },
  vertex: { replySchema: 'json_schema', subset: GEMINI, reasoningFields: [] },
  // https://console.groq.com/docs/structured-outputs: `strict` for gpt-oss only, and not in streams.
  groq: { ...STRICT, promptOnly: /^(?!openai\/gpt-oss-)/, streamsSchema: false, reasoningFields: [] },
  // https://docs.mistral.ai/api: `max_tokens` alone. Reasoning is a part of the content, which goes back unchanged.
  mistral: { ...STRICT, reasoningFields: [], lengthLimit: { name: 'max_tokens' } },
  // https://api-docs.deepseek.com/guides/json_mode: an object, and the word JSON in the prompt.
  // https://api-docs.deepseek.com/guides/thinking_mode: status 400 if the reasoning of a message with calls of tools is missing.
  deepseek: {
    replySchema: 'json_object',
    subset: GRAMMAR,
    reasoningFields: ['reasoning_content'],
    requiredReasoning: 'reasoning_content',
    lengthLimit: { name: 'max_tokens' },
  },
  xai: { ...STRICT, reasoningFields: ['reasoning_content'] },
  together: STRICT,
  fireworks: STRICT,
  // https://openrouter.ai/docs/use-cases/reasoning-tokens, "Preserving reasoning".
  // https://openrouter.ai/docs/guides/best-practices/prompt-caching: others store by themselves.
  openrouter: {
    ...STRICT,
    reasoningFields: ['reasoning', 'reasoning_details'],
    cacheMarks: /^~?(?:anthropic|qwen)\//,
  },
  cerebras: STRICT,
  ollama: { ...CONSTRAINED, reasoningFields: ['reasoning'], lengthLimit: { name: 'max_tokens' } },
  lmstudio: CONSTRAINED,
  llamacpp: { ...CONSTRAINED, reasoningFields: ['reasoning_content'] },
  vllm: CONSTRAINED,
};

/** The rules of a provider; those of an unknown service for other names. */
export function serviceRules(provider: string): ServiceRules {
  return (Object.hasOwn(RULES, provider) ? RULES[provider] : undefined) ?? PROMPT;
}
