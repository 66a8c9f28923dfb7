import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import type { Embedder } from '../../retrieval/embedding/embedder.ts';
import { openChosenModel } from '../../retrieval/embedding/localEmbedder.ts';
import { embeddingService } from '../llm/embeddingService.ts';
import { embeddingPrice } from '../llm/prices.ts';
import { resolveEndpoint } from '../llm/providers.ts';
import { serviceKey } from '../llm/serviceKey.ts';

// Their interfaces have no embeddings endpoint, so a request would only send them the texts.
const WITHOUT_EMBEDDINGS: ReadonlySet<string> = new Set(['anthropic', 'cerebras', 'deepseek', 'groq']);
const DEFAULT_SERVICE_MODEL = 'text-embedding-3-small';

export interface EmbedderOptions {
  /** `local`, or a provider of LLMClient. */
  readonly provider: string;
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
 * @throws AppError `missing` if the package, the model or the thread's program is missing, `unreachable` if the model could not be downloaded,
 * `not-signed-in` if the service needs a key.
 */
export async function openEmbedder(options: EmbedderOptions): Promise<Embedder> {
  if (options.provider !== 'local') return openService(options);
  const { mayDownload = true, libraryFrom, onProgress } = options;
  const program = modelProgram(import.meta.url);
  return openChosenModel(options, { home: farwharfHome(), program, libraryFrom, mayDownload, onProgress });
}

async function openService({
  provider,
  model = DEFAULT_SERVICE_MODEL,
  apiKey,
  baseUrl,
}: EmbedderOptions): Promise<Embedder> {
  if (baseUrl === undefined && WITHOUT_EMBEDDINGS.has(provider)) {
    throw new AppError(
      'bad-input',
      `${provider} has no embeddings. Set embeddingProvider to 'local' or a provider with them, such as openai, mistral or gemini.`,
    );
  }
  const endpoint = resolveEndpoint({ provider, model, baseUrl });
  const { key } = await serviceKey(apiKey, endpoint);
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
  if (here.endsWith('.ts')) return '../../retrieval/embedding/modelWorker.ts';
  return here.includes('/chunks/') ? '../modelWorker.mjs' : 'modelWorker.mjs';
}
