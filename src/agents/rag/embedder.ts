import { AppError, messageOf } from '../../core/errors.ts';
import { EmbeddingService } from '../llm/embeddingService.ts';
import { resolveEndpoint } from '../llm/providers.ts';

/** Turns texts into vectors of one length, so that texts of similar meaning have similar directions. */
export interface Embedder {
  /** Names provider and model: vectors of two identities are never compared. */
  readonly id: string;
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

export const DEFAULT_LOCAL_MODEL = 'Xenova/all-MiniLM-L6-v2';

export interface EmbedderOptions {
  readonly provider: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

/**
 * The embedder of a provider: `local` runs a sentence model in this process through `@huggingface/transformers`, which
 * the person installs; any other is an OpenAI-compatible embeddings endpoint.
 *
 * @throws AppError `missing` when the package is not installed, `not-signed-in` when the service needs a key.
 */
export async function openEmbedder({ provider, model, apiKey, baseUrl }: EmbedderOptions): Promise<Embedder> {
  if (provider === 'local') return openLocal(model);
  const endpoint = resolveEndpoint({ provider, model, baseUrl });
  const key = apiKey ?? (endpoint.keyVariable === undefined ? undefined : process.env[endpoint.keyVariable]);
  if (!key && endpoint.needsKey) {
    throw new AppError(
      'not-signed-in',
      `There is no key for the embeddings of ${provider}. Set ${endpoint.keyVariable}, or give embeddingApiKey.`,
    );
  }
  const service = new EmbeddingService(endpoint, key);
  return { id: `${provider}/${model}@${endpoint.baseUrl}`, embed: (texts) => service.embed(texts) };
}

// The part of `@huggingface/transformers` that is used. It is 474 MB with its engines, so it is never a dependency.
interface Transformers {
  pipeline(task: 'feature-extraction', model: string): Promise<Extractor>;
}
type Extractor = (texts: string[], options: object) => Promise<{ tolist(): number[][] }>;

async function openLocal(model: string): Promise<Embedder> {
  const name = '@huggingface/transformers'; // not a literal in import(): bundlers and the compiler would want the package
  let library: Transformers;
  try {
    library = (await import(name)) as Transformers;
  } catch (error) {
    throw new AppError(
      'missing',
      `Local embeddings need the package ${name}. Install it beside farwharf (npm install ${name}), or choose another embeddingProvider.`,
      { cause: error },
    );
  }
  let extract: Extractor;
  try {
    extract = await library.pipeline('feature-extraction', model);
  } catch (error) {
    throw new AppError('missing', `The embedding model ${model} could not be loaded: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return {
    id: `local/${model}`,
    async embed(texts) {
      const output = await extract([...texts], { pooling: 'mean', normalize: true });
      return output.tolist().map((vector) => Float32Array.from(vector));
    },
  };
}
