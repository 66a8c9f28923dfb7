import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { allowedEnvironment } from '../../core/processes/childEnvironment.ts';
import { AppError } from '../../core/errors.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { RemoteCaller } from '../../core/rpc/remoteCaller.ts';
import type { Embedder, EmbedOptions } from './embedTexts.ts';
import type { ModelService } from './modelWorker.ts';
import { findModelLibrary, MODEL_LIBRARY } from './modelLibrary.ts';
import type { ModelPlace } from './sentenceModel.ts';

export const DEFAULT_MODEL = 'Xenova/all-MiniLM-L6-v2';
const MODEL_HUB = 'https://huggingface.co';

export interface LocalEmbedderOptions extends ModelPlace {
  /** The program of the model's thread, `modelWorker`. */
  readonly program: string | URL;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** An embedding model in a thread of its own. It does not keep the process running, and is loaded again if its thread stops. */
export class LocalEmbedder implements Embedder, Disposable {
  readonly id: string;
  readonly dollarsPerMillionTokens = 0;
  readonly #thread: ModelThread;

  private constructor(id: string, thread: ModelThread) {
    this.id = id;
    this.#thread = thread;
  }

  /**
   * Finds the model, or downloads it if that is allowed.
   *
   * @throws AppError `missing` if it does not exist, `unreachable` if it could not be downloaded or its thread stopped.
   */
  static async open({ program, onProgress, ...place }: LocalEmbedderOptions): Promise<LocalEmbedder> {
    const thread = new ModelThread(program, place);
    try {
      const fingerprint = await thread.use(({ model }) => model.open(onProgress ?? (() => {})));
      return new LocalEmbedder(`local/${place.model}@${fingerprint}`, thread);
    } catch (error) {
      thread.dispose();
      throw error;
    }
  }

  embed(texts: readonly string[], { signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    signal?.throwIfAborted();
    return this.#thread.use(({ model }) => model.embed(texts, { signal }));
  }

  dispose(): void {
    this.#thread.dispose();
  }
}

export interface ChosenModelOptions {
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the model's thread, `modelWorker`. */
  readonly program: string;
  /** Files or folders from which the library is resolved, before FARWHARF_HOME. Its code runs in this process. */
  readonly libraryFrom?: readonly string[] | undefined;
  /** Whether a missing model may be downloaded; only without `localModelPath`. */
  readonly mayDownload: boolean;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** A model by its name, in the folder for downloads unless a path is given. */
interface ChosenModel {
  readonly model?: string | undefined;
  readonly localModelPath?: string | undefined;
}

/** The address of the model hub. @throws AppError `bad-input` if HF_ENDPOINT is set to something else than a web address. */
export function modelHub(): string {
  const address = process.env['HF_ENDPOINT'] ?? MODEL_HUB;
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? '')) return address;
  throw new AppError(
    'bad-input',
    `HF_ENDPOINT is ${address}, which is not a web address. Correct the variable, or remove it.`,
  );
}

/** Whether a model was downloaded, or is in the folder that was named. */
export function hasModel({ model = DEFAULT_MODEL, localModelPath }: ChosenModel, home: string): boolean {
  return existsSync(join(localModelPath ?? hubFolder(home), model));
}

/** The folder for downloads. */
function hubFolder(home: string): string {
  return join(home, 'models', 'hub');
}

/**
 * Opens a model.
 *
 * @throws AppError `missing` if the library or the model does not exist, `unreachable` if it could not be downloaded.
 */
export async function openChosenModel(
  { model = DEFAULT_MODEL, localModelPath }: ChosenModel,
  { home, program, libraryFrom, mayDownload, onProgress }: ChosenModelOptions,
): Promise<LocalEmbedder> {
  const library = findModelLibrary(home, libraryFrom);
  if (library === undefined) {
    throw new AppError(
      'missing',
      `Local embeddings need the package ${MODEL_LIBRARY}. Install it beside farwharf (npm install ${MODEL_LIBRARY}), or choose another embeddingProvider.`,
    );
  }
  const folder = localModelPath ?? hubFolder(home);
  const mayFetch = mayDownload && localModelPath === undefined;
  const download = mayFetch ? modelHub() : undefined;
  return LocalEmbedder.open({ library, model, folder, download, program, onProgress });
}

class ModelThread implements Disposable {
  readonly #caller: RemoteCaller<ModelService>;
  #worker: Worker | undefined;
  #calls = 0;

  constructor(program: string | URL, place: ModelPlace) {
    this.#caller = new RemoteCaller((onLost) => {
      // Without the process's own flags, some of which threads do not accept, such as those of `node --eval`.
      const worker = new Worker(program, {
        workerData: place,
        name: 'farwharf-model',
        execArgv: [],
        env: allowedEnvironment(process.env),
      });
      const lose = (cause?: unknown): void => {
        if (this.#worker === worker) this.#worker = undefined;
        onLost(
          new AppError('unreachable', `The thread of the embedding model ${place.model} stopped. Try again.`, {
            cause,
          }),
        );
      };
      worker.on('error', lose);
      worker.on('exit', () => lose());
      this.#worker = worker;
      return worker;
    });
  }

  /** An idle thread does not keep its process running. */
  async use<T>(call: (service: RemoteCaller<ModelService>['service']) => Promise<T>): Promise<T> {
    this.#calls += 1;
    try {
      const answer = call(this.#caller.service);
      this.#worker?.ref();
      return await answer;
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#worker?.unref();
    }
  }

  dispose(): void {
    this.#caller.dispose();
    void this.#worker?.terminate();
  }
}
