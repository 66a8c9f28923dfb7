import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { networkFailureText } from '../../core/network/failureText.ts';
import { createNetworkFetch } from '../../core/network/networkFetch.ts';

// Batches contain texts of similar length, because each is padded to the longest, and attention needs the square of that in memory.
const MODEL_TEXTS = 8;
// Weights of one byte take a quarter of the memory and less time, with little loss. The first file that exists is used.
const WEIGHTS = [
  { type: 'q8', file: 'onnx/model_quantized.onnx' },
  { type: 'fp32', file: 'onnx/model.onnx' },
] as const;
const OTHER_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];

// The part of the library that is used.
interface Transformers {
  readonly env: {
    allowRemoteModels: boolean;
    localModelPath: string;
    cacheDir: string;
    remoteHost: string;
    logLevel: number;
    fetch: typeof fetch;
  };
  pipeline(task: 'feature-extraction', model: string, options: object): Promise<Extractor>;
}
interface Extractor {
  (texts: string[], options: object): Promise<{ readonly dims: readonly number[]; readonly data: Float32Array }>;
  dispose(): Promise<void>;
}
interface DownloadProgress {
  readonly status: string;
  readonly loaded?: number;
  readonly total?: number;
}

const SILENT = 40;

/** Where a model on this machine is, and the library that runs it. */
export interface ModelPlace {
  /** The file of `@huggingface/transformers`. */
  readonly library: string;
  /** As on the model hub: `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
  /** The folder that contains the model's files in a subfolder named `model`. */
  readonly folder: string;
  /** The address from which a missing model is downloaded; undefined if that is not allowed. */
  readonly download: string | undefined;
} // the library's level for errors only

/** A sentence model in this thread, which is blocked while it embeds. */
export class SentenceModel {
  /** The hash of its weights and its tokenizer, which distinguishes models of the same name. */
  readonly fingerprint: string;
  readonly #load: () => Promise<Extractor>;
  #extractor: Promise<Extractor> | undefined;

  private constructor(fingerprint: string, load: () => Promise<Extractor>) {
    this.fingerprint = fingerprint;
    this.#load = load;
  }

  /**
   * Finds a model, or downloads it if that is allowed. It is loaded with the first texts.
   *
   * @throws AppError `missing` if it does not exist, `unreachable` if it could not be downloaded.
   */
  static async open(
    { library: libraryFile, model, folder, download }: ModelPlace,
    onProgress: (doneBytes: number, totalBytes: number) => void,
  ): Promise<SentenceModel> {
    const files = join(folder, model);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- installed at run time, without its types
    const library = createRequire(libraryFile)(libraryFile) as Transformers;
    Object.assign(library.env, {
      allowRemoteModels: false,
      localModelPath: folder + sep,
      cacheDir: folder,
      logLevel: SILENT,
    });
    if (download !== undefined && !isWhole(files)) await fetchModel(library, model, download, onProgress);
    const weights = weightsIn(files);
    if (weights === undefined) {
      throw new AppError(
        'missing',
        `The embedding model ${model} is not in ${folder}: ${join(model, WEIGHTS[1].file)} does not exist. Put the model there, or allow its download.`,
      );
    }
    const hash = createHash('sha256').update(weights.type);
    for (const name of [weights.file, 'tokenizer.json']) hash.update(await readModelFile(join(files, name), model));
    return new SentenceModel(hash.digest('hex').slice(0, 12), () => loadModel(library, model, weights.type));
  }

  /** Vectors of length 1, the mean over a text's tokens. @throws the signal's reason, or AppError if the model fails. */
  async embed(
    texts: readonly string[],
    { signal }: { readonly signal?: AbortSignal | undefined },
  ): Promise<Float32Array[]> {
    this.#extractor ??= this.#load();
    const extract = await this.#extractor;
    const order = texts.map((text, at) => ({ text, at })).sort((a, b) => a.text.length - b.text.length);
    const vectors: Float32Array[] = [];
    for (let from = 0; from < order.length; from += MODEL_TEXTS) {
      signal?.throwIfAborted();
      const batch = order.slice(from, from + MODEL_TEXTS);
      const { dims, data } = await extract(
        batch.map(({ text }) => text),
        { pooling: 'mean', normalize: true },
      );
      const length = dims.at(-1) ?? 0;
      for (const [index, { at }] of batch.entries()) vectors[at] = data.slice(index * length, (index + 1) * length);
    }
    return vectors;
  }
}

function weightsIn(folder: string): (typeof WEIGHTS)[number] | undefined {
  return WEIGHTS.find(({ file }) => existsSync(join(folder, file)));
}

/** Checks all files, because a download may have been interrupted between two of them. */
function isWhole(folder: string): boolean {
  return weightsIn(folder) !== undefined && OTHER_FILES.every((file) => existsSync(join(folder, file)));
}

async function readModelFile(path: string, model: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new AppError('missing', `The embedding model ${model} is incomplete: ${path} could not be read.`, {
      cause: error,
    });
  }
}

async function loadModel(library: Transformers, model: string, type: string): Promise<Extractor> {
  try {
    return await library.pipeline('feature-extraction', model, { dtype: type });
  } catch (error) {
    throw new AppError('corrupt', `The embedding model ${model} could not be loaded: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function fetchModel(
  library: Transformers,
  model: string,
  address: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<void> {
  const { env } = library;
  env.allowRemoteModels = true;
  env.fetch = createNetworkFetch();
  env.remoteHost = address.endsWith('/') ? address : `${address}/`;
  const progress_callback = ({ status, loaded = 0, total = 0 }: DownloadProgress): void => {
    if (status === 'progress_total') onProgress(loaded, total);
  };
  try {
    const extractor = await library.pipeline('feature-extraction', model, {
      dtype: WEIGHTS[0].type,
      progress_callback,
    });
    await extractor.dispose();
  } catch (error) {
    const { host } = new URL(address);
    const reason = networkFailureText(error, host) ?? `${messageOf(error)}. Check its name and the network.`;
    const message = `The embedding model ${model} could not be downloaded from ${host}: ${reason}`;
    throw new AppError('unreachable', message, { cause: error });
  } finally {
    env.allowRemoteModels = false;
  }
}
