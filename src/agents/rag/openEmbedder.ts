import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import type { Embedder } from '../../retrieval/semantic/embedTexts.ts';
import { openChosenModel } from '../../retrieval/semantic/localEmbedder.ts';
import { embeddingPrice } from '../llm/prices.ts';
import { type Endpoint, resolveEndpoint } from '../llm/providers.ts';
import { endpointKey } from '../llm/endpointKey.ts';
import { fieldOf, numberField } from '../../core/jsonFields.ts';
import { Redactor } from '../../core/redact.ts';
import { parsedBody } from '../llm/completion.ts';
import { requestFailure } from '../llm/requestFailure.ts';
import { clientOptions } from '../llm/openaiClient.ts';
import { withRetries } from '../llm/rateLimit.ts';
import { DEFAULT_TIMEOUT_SECONDS, ResponseTimeout, ResponseTimeoutError } from '../llm/responseTimeout.ts';

// Their interfaces have no embeddings endpoint, so a request would only send them the texts.
const WITHOUT_EMBEDDINGS: ReadonlySet<string> = new Set(['anthropic', 'cerebras', 'deepseek', 'groq']);
// Each from the documentation of its service: platform.openai.com/docs/guides/embeddings, docs.ollama.com/capabilities/embeddings,
// docs.mistral.ai/capabilities/embeddings, ai.google.dev/gemini-api/docs/embeddings, lmstudio.ai/docs/typescript/embedding.
const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  openai: 'text-embedding-3-small',
  azure: 'text-embedding-3-small',
  ollama: 'nomic-embed-text',
  mistral: 'mistral-embed',
  gemini: 'gemini-embedding-001',
  lmstudio: 'text-embedding-nomic-embed-text-v1.5',
};
const RETRIES = 3;

export interface EmbedderOptions {
  /** `local`, or a provider of LLMClient; `local` if absent, or with a `baseUrl` the one with its host. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** The folder with a local model; without it, a model is downloaded once from the model hub. */
  readonly localModelPath?: string | undefined;
  /** Where to look for the library of local models before FARWHARF_HOME. Its code runs in this process. */
  readonly libraryFrom?: readonly string[] | undefined;
  /** Whether a missing local model may be downloaded; true if absent. */
  readonly mayDownload?: boolean | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/**
 * The embedder of a provider: `local` runs a sentence model in a thread of this process through `@huggingface/transformers`, which
 * the user installs; any other is an OpenAI-compatible embeddings endpoint.
 *
 * @throws AppError `bad-input` if no model is given and the provider has no default one, `missing` if the package, the model or the thread's program is missing, `unreachable` if the model could not be downloaded,
 * `not-signed-in` if the service needs a key.
 */
export async function openEmbedder(options: EmbedderOptions): Promise<Embedder> {
  const { provider = options.baseUrl === undefined ? 'local' : undefined } = options;
  if (provider !== 'local') return openService({ ...options, provider });
  const { mayDownload = true, libraryFrom, onProgress } = options;
  const program = modelProgram(import.meta.url);
  return openChosenModel(options, { home: farwharfHome(), program, libraryFrom, mayDownload, onProgress });
}

async function openService({ model: chosenModel, apiKey, baseUrl, ...options }: EmbedderOptions): Promise<Embedder> {
  const { provider } = resolveEndpoint({ provider: options.provider, baseUrl });
  if (baseUrl === undefined && WITHOUT_EMBEDDINGS.has(provider)) {
    throw new AppError(
      'bad-input',
      `${provider} has no embeddings. Set embeddingProvider to 'local' or a provider with them, such as openai, mistral or gemini.`,
    );
  }
  const model = chosenModel ?? DEFAULT_MODELS[provider];
  if (model === undefined) {
    const message = `No embedding model of ${provider} is the default. Set embeddingModel to one that the service has.`;
    throw new AppError('bad-input', message);
  }
  const endpoint = resolveEndpoint({ provider, model, baseUrl });
  const { key } = await endpointKey(apiKey, endpoint);
  if (!key && endpoint.needsKey) {
    throw new AppError(
      'not-signed-in',
      `The embeddings of ${provider} need an API key. Set ${endpoint.keyVariable}, or pass embeddingApiKey.`,
    );
  }
  return {
    id: `${provider}/${model}@${endpoint.baseUrl}`,
    dollarsPerMillionTokens: embeddingPrice(endpoint),
    embed: embeddingService(endpoint, key),
  };
}

/**
 * The program of the model's thread: a source beside this one, or built beside the library that this is a chunk of.
 *
 * @param here the address of this module; undefined in a bundle in CommonJS format.
 * @throws AppError `missing` if this module was bundled into another program without that file.
 */
function modelProgram(here: string | undefined): string {
  const program = here && fileURLToPath(new URL(modelProgramFrom(here), here));
  if (program && existsSync(program)) return program;
  throw new AppError(
    'missing',
    'Local embeddings run in a thread whose program, modelWorker.mjs, is not part of this bundle. Leave farwharf out of the bundle (esbuild: --external:farwharf), or choose another embeddingProvider.',
  );
}

function modelProgramFrom(here: string): string {
  if (here.endsWith('.ts')) return '../../retrieval/semantic/modelWorker.ts';
  return here.includes('/chunks/') ? '../modelWorker.mjs' : 'modelWorker.mjs';
}

/**
 * A function that embeds texts through an OpenAI-compatible endpoint. It retries while the service is busy, after the time that the
 * service specifies.
 *
 * It throws an AppError that names provider and model if the service fails, stalls or returns another number of vectors, or the signal's reason.
 */
function embeddingService(endpoint: Endpoint, key: string | undefined): Embedder['embed'] {
  const { provider, model } = endpoint;
  const redactor = new Redactor();
  if (key !== undefined) redactor.add(key);
  const client = new OpenAI(clientOptions(endpoint, key));
  return async (texts, { signal, retries = RETRIES, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, onWait } = {}) => {
    const timeoutMs = timeoutSeconds * 1_000;
    const timeout = new ResponseTimeout(timeoutMs, signal);
    // Without an encoding the package requests base64, which few compatible services support.
    const body = { model, input: [...texts], encoding_format: 'float' as const };
    const request = { signal: timeout.signal, timeout: timeoutMs };
    const send = () => timeout.limit(() => client.embeddings.create(body, request));
    const { value } = await withRetries(send, { retries, signal, onWait }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (!(error instanceof ResponseTimeoutError)) throw requestFailure(error, endpoint, redactor);
      const what = `${endpoint.baseUrl} did not send its whole response within ${timeoutSeconds} s`;
      const message = `${provider} (${model}): ${what}. Check that the service runs, then try again.`;
      throw new AppError('unreachable', message, { cause: error });
    });
    const vectors = vectorsOf(parsedBody(value), texts.length);
    if (vectors !== undefined) return vectors;
    throw new AppError('corrupt', `${provider} (${model}): the response does not contain one vector for each text.`);
  };
}

/** The vectors of a response in the order of their texts; undefined if it does not have one for each. */
function vectorsOf(body: unknown, count: number): Float32Array[] | undefined {
  const data = fieldOf(body, 'data');
  if (!Array.isArray(data)) return undefined;
  const vectors = new Map<number, Float32Array>();
  for (const [position, item] of data.entries()) {
    const embedding = fieldOf(item, 'embedding');
    const numbers: unknown[] = Array.isArray(embedding) ? embedding : [];
    vectors.set(numberField(item, 'index') ?? position, Float32Array.from(numbers, Number));
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index));
  const complete = ordered.filter((vector) => vector !== undefined);
  return data.length === count && complete.length === count ? complete : undefined;
}
