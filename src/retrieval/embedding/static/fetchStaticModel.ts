import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, messageOf } from '../../../core/errors.ts';
import { networkFailureText } from '../../../core/network/failureText.ts';
import { createNetworkFetch } from '../../../core/network/networkFetch.ts';
import { CONFIG_FILE, isStaticConfig, MOST_BYTES, TABLE_FILE, TOKENIZER_FILE } from './staticModelFiles.ts';

const NAME = /^[\w-][\w.-]*\/[\w-][\w.-]*$/;

interface FetchOptions {
  /** The address of the model hub. */
  readonly hub: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
}

/**
 * Downloads a static model from a model hub to `folder`, whole or not at all. Returns false, and downloads nothing but its `config.json`, if
 * the model is not a static one.
 *
 * @throws AppError `bad-input` if it is not a name on a hub, `unreachable` if it could not be downloaded, `limit` if a file is larger than
 * that of any known model; the signal's reason on abort.
 */
export async function fetchStaticModel(model: string, folder: string, options: FetchOptions): Promise<boolean> {
  if (!NAME.test(model)) {
    throw new AppError('bad-input', `${model} is not the name of a model on a hub. Enter it as owner/name.`);
  }
  const partial = `${folder}.partial-${process.pid}`;
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 });
    await fetchFile(CONFIG_FILE, model, partial, { ...options, onProgress: () => {} });
    if (!(await isStaticConfig(partial))) return false;
    await fetchFile(TOKENIZER_FILE, model, partial, { ...options, onProgress: () => {} });
    await fetchFile(TABLE_FILE, model, partial, options);
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
    return true;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AppError) throw error;
    const { host } = new URL(options.hub);
    const reason = networkFailureText(error, host) ?? messageOf(error);
    const message = `The embedding model ${model} could not be downloaded from ${host}: ${reason}`;
    throw new AppError('unreachable', message, { cause: error });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function fetchFile(
  file: string,
  model: string,
  folder: string,
  { hub, signal, onProgress }: FetchOptions,
): Promise<void> {
  const url = new URL(`${model}/resolve/main/${file}`, hub.endsWith('/') ? hub : `${hub}/`);
  const response = await createNetworkFetch()(url, { ...(signal && { signal }) });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new AppError(
      'unreachable',
      `The embedding model ${model} could not be downloaded: ${url.host} responded ${response.status} for ${file}. Check the name of the model.`,
    );
  }
  const total = Number(response.headers.get('content-length') ?? 0);
  const most = MOST_BYTES[file] ?? 0;
  let done = 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- web streams are iterable in Node.js
  const body = response.body as unknown as AsyncIterable<Uint8Array>;
  const bounded = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of body) {
      done += chunk.length;
      if (done > most) {
        throw new AppError(
          'limit',
          `${file} of ${model} is larger than ${Math.floor(most / 1e6)} MB, the maximum for this file. Choose another model.`,
        );
      }
      onProgress(done, Math.max(total, done));
      yield chunk;
    }
  };
  await pipeline(bounded, createWriteStream(join(folder, file), { mode: 0o600 }));
  if (done < total)
    throw new AppError(
      'unreachable',
      `The connection to ${url.host} was lost while ${file} was downloaded. Try again.`,
    );
}
