import type { SchemaSubset } from '../schema/strictSchema.ts';

/** What a service expects in the requests of chat completions, beyond what all agree on. */
export interface ServiceRules {
  /** How a request carries the schema of a reply: as such, not at all but with a promise of JSON, or only in the prompt. */
  readonly replySchema: 'json_schema' | 'json_object' | 'prompt';
  readonly subset: SchemaSubset;
  /** Models that take less than the service: their replies are described in the prompt. */
  readonly promptOnly?: RegExp;
  /** Whether a streamed reply can follow a schema; true if absent. */
  readonly streamsSchema?: false;
}

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

// https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md, which Ollama and LM Studio use, and
// https://docs.vllm.ai/en/latest/features/structured_outputs.html (xgrammar). Both refuse some patterns, and long repetitions.
const GRAMMAR: SchemaSubset = {
  ...GEMINI,
  keywords: new Set(['minimum', 'maximum']),
  formats: new Set(['date-time', 'date', 'time', 'uuid']),
  optionalKeys: 'nullable',
};

/** The prompt alone: nothing is assumed about the service. */
const PROMPT: ServiceRules = { replySchema: 'prompt', subset: GRAMMAR };

const STRICT: ServiceRules = { replySchema: 'json_schema', subset: TYPES_ONLY };
const CONSTRAINED: ServiceRules = { replySchema: 'json_schema', subset: GRAMMAR };

// Looked up on 2026-11-29 in stored copies of the pages named here and above.
const RULES: Readonly<Record<string, ServiceRules>> = {
  openai: { replySchema: 'json_schema', subset: OPENAI },
  azure: STRICT,
  // https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk: `response_format` is ignored.
  anthropic: PROMPT,
  gemini: { replySchema: 'json_schema', subset: GEMINI },
  vertex: { replySchema: 'json_schema', subset: GEMINI },
  // https://console.groq.com/docs/structured-outputs: `strict` for gpt-oss only, and not in streams.
  groq: { ...STRICT, promptOnly: /^(?!openai\/gpt-oss-)/, streamsSchema: false },
  mistral: STRICT,
  // https://api-docs.deepseek.com/guides/json_mode: an object, and the word JSON in the prompt.
  deepseek: { replySchema: 'json_object', subset: GRAMMAR },
  xai: STRICT,
  together: STRICT,
  fireworks: STRICT,
  openrouter: STRICT,
  cerebras: STRICT,
  ollama: CONSTRAINED,
  lmstudio: CONSTRAINED,
  llamacpp: CONSTRAINED,
  vllm: CONSTRAINED,
};

/** The rules of a provider; those of an unknown service for other names. */
export function serviceRules(provider: string): ServiceRules {
  return (Object.hasOwn(RULES, provider) ? RULES[provider] : undefined) ?? PROMPT;
}
