/**
 * What services refuse in the schema of a strict reply, as they publish it, written apart from the code that has to keep to it.
 *
 * OpenAI: https://developers.openai.com/api/docs/guides/structured-outputs ("Supported schemas"), with the messages of its 400s
 * ("'required' is required to be supplied and to be an array including every key in properties", "'uri' is not a valid format").
 * Azure: https://learn.microsoft.com/azure/ai-services/openai/how-to/structured-outputs. Groq: https://console.groq.com/docs/structured-outputs.
 * Gemini: https://ai.google.dev/gemini-api/docs/structured-output. llama.cpp: grammars/README.md in ggml-org/llama.cpp.
 */
interface Published {
  readonly keywords: readonly string[];
  readonly formats: readonly string[];
  readonly isClosed: boolean;
  readonly allRequired: boolean;
  readonly maxDepth: number;
  readonly maxProperties: number;
}

const STRUCTURE = 'type description enum properties required additionalProperties items anyOf $ref $defs'.split(' ');
const ALL_FORMATS = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ');
const NUMBERS = 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'.split(' ');
const plain: Published = {
  keywords: STRUCTURE,
  formats: [],
  isClosed: true,
  allRequired: true,
  maxDepth: 5,
  maxProperties: 100,
};
const local: Published = {
  keywords: [...STRUCTURE, ...NUMBERS, 'format', 'prefixItems', 'minItems', 'maxItems'],
  formats: ['date-time', 'date', 'time', 'uuid'],
  isClosed: false,
  allRequired: false,
  maxDepth: 64,
  maxProperties: 5_000,
};

export const PUBLISHED: Readonly<Record<string, Published>> = {
  openai: {
    keywords: [...STRUCTURE, ...NUMBERS, 'pattern', 'format', 'minItems', 'maxItems'],
    formats: ALL_FORMATS,
    isClosed: true,
    allRequired: true,
    maxDepth: 10,
    maxProperties: 5_000,
  },
  azure: plain,
  groq: plain,
  mistral: plain,
  xai: plain,
  gemini: {
    ...local,
    keywords: [...STRUCTURE, 'minimum', 'maximum', 'format', 'prefixItems', 'minItems', 'maxItems'],
    formats: ['date-time', 'date', 'time'],
  },
  ollama: local,
  llamacpp: local,
  vllm: local,
};

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Why a service would answer 400 to a schema sent as strict; empty if it takes it. */
export function refusals(provider: string, root: unknown): string[] {
  const rules = PUBLISHED[provider];
  if (rules === undefined) throw new Error(`no published rules for ${provider}`);
  const found: string[] = [];
  let properties = 0;
  const check = (schema: unknown, at: string, depth: number): void => {
    if (!isObject(schema)) return void found.push(`${at} is not a schema`);
    for (const key of Object.keys(schema))
      if (!rules.keywords.includes(key)) found.push(`${at}: '${key}' is not permitted`);
    const { type, $ref, anyOf, format, pattern, items, prefixItems } = schema;
    if (depth > rules.maxDepth) found.push(`${at} is nested too deeply`);
    if (typeof $ref === 'string') {
      if (Object.keys(schema).length > 1) found.push(`${at}: $ref cannot have other keywords`);
      const name = /^#\/\$defs\/([\w-]+)$/.exec($ref)?.[1];
      const isKnown =
        $ref === '#' || (name !== undefined && isObject(root) && isObject(root['$defs']) && name in root['$defs']);
      if (!isKnown) found.push(`${at}: ${$ref} does not exist`);
      return;
    }
    if (Array.isArray(anyOf)) anyOf.forEach((branch, index) => check(branch, `${at}.anyOf[${index}]`, depth));
    else if (type === undefined && rules.isClosed) found.push(`${at}: schema must have a 'type' key`);
    if (format !== undefined && !rules.formats.some((each) => each === format))
      found.push(`${at}: ${JSON.stringify(format)} is not a valid format`);
    if (typeof pattern === 'string' && /\(\?[=!<]/.test(pattern)) found.push(`${at}: lookarounds are not supported`);
    if (type === 'object' || isObject(schema['properties'])) {
      const keys = Object.keys(isObject(schema['properties']) ? schema['properties'] : {});
      properties += keys.length;
      const required = Array.isArray(schema['required']) ? schema['required'] : [];
      if (rules.isClosed && schema['additionalProperties'] !== false)
        found.push(`${at}: 'additionalProperties' must be false`);
      if (rules.allRequired && (keys.length !== required.length || !keys.every((key) => required.includes(key))))
        found.push(`${at}: 'required' must include every key in properties`);
      for (const key of keys) check((schema['properties'] as Json)[key], `${at}.${key}`, depth + 1);
      if (isObject(schema['additionalProperties'])) check(schema['additionalProperties'], `${at}.*`, depth + 1);
    }
    if (Array.isArray(items)) found.push(`${at}: items must be a schema`);
    else if (items !== undefined) check(items, `${at}[]`, depth);
    else if (type === 'array' && !Array.isArray(prefixItems)) found.push(`${at}: array schema missing items`);
    if (Array.isArray(prefixItems)) prefixItems.forEach((item, index) => check(item, `${at}[${index}]`, depth));
  };
  if (!isObject(root) || root['type'] !== 'object') found.push('schema must be a JSON Schema of \'type: "object"\'');
  check(root, 'root', 1);
  for (const [name, definition] of Object.entries(isObject(root) && isObject(root['$defs']) ? root['$defs'] : {}))
    check(definition, name, 1);
  if (properties > rules.maxProperties) found.push('too many properties');
  return found;
}
