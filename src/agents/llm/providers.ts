import { AppError } from '../../core/errors.ts';
import { azureAddress, CLOUDS } from './clouds.ts';
import type { SelectedModel } from './selectedModel.ts';

interface Provider {
  /** Absent for a cloud, where it depends on the environment. */
  readonly baseUrl?: string;
  readonly model: string;
  readonly isLocal: boolean;
  /** The variable with the key, if it is not `<PROVIDER>_API_KEY`. */
  readonly keyVariable?: string;
}

function hosted(baseUrl: string, model: string): Provider {
  return { baseUrl, model, isLocal: false };
}

function local(baseUrl: string, model: string): Provider {
  return { baseUrl, model, isLocal: true };
}

// The default models were looked up on 2026-11-20 in stored copies of the services' pages of models and retirements: retired are
// deepseek-chat (api-docs.deepseek.com), llama-3.3-70b-versatile at groq (console.groq.com/docs/deprecations), llama-3.3-70b at
// cerebras (inference-docs.cerebras.ai/support/deprecation), grok-4 (docs.x.ai, May 2026) and, from 2026-12-01 on,
// gemini-2.5-flash (ai.google.dev/gemini-api/docs/deprecations). For together and fireworks, no information was found.
const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: hosted('https://api.openai.com/v1', 'gpt-4o-mini'),
  anthropic: hosted('https://api.anthropic.com/v1', 'claude-haiku-4-5'),
  gemini: hosted('https://generativelanguage.googleapis.com/v1beta/openai', 'gemini-3.5-flash-lite'),
  mistral: hosted('https://api.mistral.ai/v1', 'mistral-small-latest'),
  deepseek: hosted('https://api.deepseek.com/v1', 'deepseek-flash'),
  groq: hosted('https://api.groq.com/openai/v1', 'openai/gpt-oss-120b'),
  xai: hosted('https://api.x.ai/v1', 'grok-4.3'),
  together: hosted('https://api.together.xyz/v1', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'),
  fireworks: hosted('https://api.fireworks.ai/inference/v1', 'accounts/fireworks/models/llama-v3p3-70b-instruct'),
  openrouter: hosted('https://openrouter.ai/api/v1', 'openai/gpt-4o-mini'),
  cerebras: hosted('https://api.cerebras.ai/v1', 'gpt-oss-120b'),
  ollama: local('http://127.0.0.1:11434/v1', 'llama3.2'),
  lmstudio: local('http://127.0.0.1:1234/v1', 'default'),
  llamacpp: local('http://127.0.0.1:8080/v1', 'default'),
  vllm: local('http://127.0.0.1:8000/v1', 'default'),
  ...Object.fromEntries(Object.entries(CLOUDS).map(([name, cloud]) => [name, { ...cloud, isLocal: false }])),
};

export const PROVIDER_NAMES: readonly string[] = Object.keys(PROVIDERS);
export const LOCAL_PROVIDERS: ReadonlySet<string> = new Set(PROVIDER_NAMES.filter((name) => PROVIDERS[name]?.isLocal));

// A service that is not in the table: nothing is assumed about it, and no provider's key is ever sent there.
const CUSTOM = { model: 'default', isLocal: true };
const CUSTOM_PROVIDER = 'custom';

// The editor's models, for flows that it runs. The variables contain the address of its bridge.
const EDITOR_PROVIDER = 'vscode';
const BRIDGE = { url: 'FARWHARF_MODEL_BRIDGE_URL', token: 'FARWHARF_MODEL_BRIDGE_TOKEN' } as const;

const MODEL_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-|o1|o3|o4|chatgpt-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'gemini'],
  [/^deepseek-/, 'deepseek'],
  [/^(?:mistral|codestral|ministral)-/, 'mistral'],
  [/^grok-/, 'xai'],
];

function keyVariableOf(provider: string): string {
  return PROVIDERS[provider]?.keyVariable ?? `${provider.toUpperCase()}_API_KEY`;
}

/** Whether a variable contains the key of a provider in the table. */
export function isModelKeyVariable(variable: string): boolean {
  return Object.entries(PROVIDERS).some(([name, { isLocal }]) => !isLocal && keyVariableOf(name) === variable);
}

/** The interface of a service: chat completions, or OpenAI's newer one. */
export type ModelApi = 'chat' | 'responses';

export interface EndpointOptions {
  /** A name in the table; if absent, found from `baseUrl`, then from `model`. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** The variable with the key, instead of the provider's own. */
  readonly apiKeyEnv?: string | undefined;
  readonly apiKey?: unknown;
}

/** A model at a service, and where its key is found. */
export interface Endpoint {
  readonly provider: string;
  readonly model: string;
  /** Without a trailing slash and without a query. */
  readonly baseUrl: string;
  /** The query of every request, such as `api-version`. */
  readonly query: Readonly<Record<string, string>>;
  /** The header of the key, if it is not a bearer token. */
  readonly keyHeader: 'api-key' | undefined;
  /** Whether the address is the provider's own, rather than a proxy or a compatible service. */
  readonly isOwnAddress: boolean;
  readonly keyVariable: string | undefined;
  readonly needsKey: boolean;
  /** The error message if the key is missing. */
  readonly keyAdvice: string;
}

/**
 * Chooses the service: the editor's selected model if the options ask for no other; else an explicit provider wins, then the host of
 * `baseUrl`, then the model's name, then openai. The address of openai is that of `OPENAI_BASE_URL`, if it is set.
 *
 * @throws AppError `bad-input` for a provider that is not in the table, or a `baseUrl` that is not an http URL.
 */
export function resolveEndpoint(options: EndpointOptions, selected?: SelectedModel): Endpoint {
  if (selected !== undefined && takesSelected(options, selected)) return selectedEndpoint(selected, options);
  const name = options.provider ?? providerOf(options);
  if (name === EDITOR_PROVIDER) return editorEndpoint(options);
  const definition = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
  if (definition === undefined && name !== CUSTOM_PROVIDER) {
    const names = [...Object.keys(PROVIDERS), EDITOR_PROVIDER].join(', ');
    throw new AppError('bad-input', `The provider "${name}" is unknown. Choose one of ${names}, or pass only baseUrl.`);
  }
  const { model, isLocal } = definition ?? CUSTOM;
  const cloud = Object.hasOwn(CLOUDS, name) ? CLOUDS[name] : undefined;
  const baseUrl = options.baseUrl ?? environmentAddress(name, cloud) ?? definition?.baseUrl;
  if (baseUrl === undefined) throw new AppError('bad-input', 'The provider "custom" needs a baseUrl.');
  const ownVariable = definition === undefined || isLocal ? undefined : keyVariableOf(name);
  const keyVariable = options.apiKeyEnv ?? ownVariable;
  const customUrl = parseAddress(baseUrl);
  const modelName = options.model ?? model;
  const address = name === 'azure' ? azureAddress(customUrl, modelName) : customUrl;
  return {
    provider: name,
    model: modelName,
    ...splitQuery(address),
    keyHeader: cloud?.keyHeader,
    isOwnAddress: isAddressOf(name, address),
    keyVariable,
    needsKey: !isLocal || options.apiKeyEnv !== undefined,
    keyAdvice: cloud?.keyAdvice ?? `${name} needs an API key. Set ${keyVariable}, or pass apiKey.`,
  };
}

/** The address that the variables of a provider's own tools describe. An empty one counts as none. */
function environmentAddress(provider: string, cloud: (typeof CLOUDS)[string] | undefined): string | undefined {
  return provider === 'openai' ? process.env['OPENAI_BASE_URL'] || undefined : cloud?.address(process.env);
}

function takesSelected(
  { provider, model, baseUrl, apiKey, apiKeyEnv }: EndpointOptions,
  selected: SelectedModel,
): boolean {
  if (baseUrl !== undefined || apiKey !== undefined || apiKeyEnv !== undefined) return false; // chosen, or with its own key
  const providerName = provider ?? (model === undefined ? undefined : providerOfModel(model));
  return providerName === undefined || providerName === selected.provider;
}

function selectedEndpoint({ provider, model, baseUrl }: SelectedModel, options: EndpointOptions): Endpoint {
  const entry = PROVIDERS[provider];
  return {
    provider,
    model: options.model ?? model,
    baseUrl,
    query: {},
    keyHeader: undefined,
    isOwnAddress: entry !== undefined, // the editor sends the requests there
    keyVariable: BRIDGE.token,
    needsKey: true,
    keyAdvice: 'The model selected in the editor is available only while the editor runs the flow.',
  };
}

/** `auto` lets the editor choose the model. */
function editorEndpoint({ model = 'auto', baseUrl, apiKeyEnv }: EndpointOptions): Endpoint {
  const address = baseUrl ?? process.env[BRIDGE.url] ?? 'http://vscode.invalid/v1';
  return {
    provider: EDITOR_PROVIDER,
    model,
    ...splitQuery(parseAddress(address)),
    keyHeader: undefined,
    isOwnAddress: false,
    keyVariable: apiKeyEnv ?? BRIDGE.token,
    needsKey: true,
    keyAdvice:
      'The models of VS Code are available only to flows that VS Code runs. Run the flow from the editor, or choose another provider.',
  };
}

function providerOf({ baseUrl, model }: EndpointOptions): string {
  if (baseUrl !== undefined) {
    const address = parseAddress(baseUrl);
    return PROVIDER_NAMES.find((name) => isAddressOf(name, address)) ?? CUSTOM_PROVIDER;
  }
  return (model === undefined ? undefined : providerOfModel(model)) ?? 'openai';
}

/** The provider that a model's name suggests; undefined if there is none. */
export function providerOfModel(model: string): string | undefined {
  return MODEL_NAMES.find(([pattern]) => pattern.test(model))?.[1];
}

/** Whether a host is the provider's own. */
function isAddressOf(provider: string, address: URL): boolean {
  const standardUrl = PROVIDERS[provider]?.baseUrl;
  if (standardUrl !== undefined) return hostOf(address) === hostOf(new URL(standardUrl));
  return Object.hasOwn(CLOUDS, provider) && CLOUDS[provider]?.hosts.test(address.hostname) === true;
}

function splitQuery({ origin, pathname, searchParams }: URL): Pick<Endpoint, 'baseUrl' | 'query'> {
  return { baseUrl: `${origin}${pathname}`.replace(/\/+$/, ''), query: Object.fromEntries(searchParams) };
}

// The local providers differ only in their ports.
function hostOf({ hostname, port }: URL): string {
  return `${hostname === 'localhost' || hostname === '[::1]' ? '127.0.0.1' : hostname}:${port}`;
}

function parseAddress(baseUrl: string): URL {
  const url = URL.parse(baseUrl);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new AppError('bad-input', `The baseUrl "${baseUrl}" is not an http or https URL.`);
}

/** The URL of a path at an endpoint, with the endpoint's query. */
export function requestUrl({ baseUrl, query }: Pick<Endpoint, 'baseUrl' | 'query'>, path = ''): string {
  const search = new URLSearchParams(query).toString();
  return `${baseUrl}${path}${search === '' ? '' : `?${search}`}`;
}

/** The headers with a key. */
export function keyHeaders(
  { keyHeader }: Pick<Endpoint, 'keyHeader'>,
  key: string | undefined,
): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  return keyHeader === undefined ? { Authorization: `Bearer ${key}` } : { [keyHeader]: key };
}
