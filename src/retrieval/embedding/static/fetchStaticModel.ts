import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, messageOf } from '../../../core/errors.ts';
import { formatDuration } from '../../../core/text/format.ts';
import { networkFailureText } from '../../../core/network/failureText.ts';
import { createNetworkFetch } from '../../../core/network/networkFetch.ts';
import { CONFIG_FILE, isStaticConfig, MOST_BYTES, TABLE_FILE, TOKENIZER_FILE } from './staticModelFiles.ts';

// A hub that is slow to find a file takes seconds.
const IDLE_MS = 60_000;
const NAME = /^[\w-][\w.-]*\/[\w-][\w.-]*$/;

interface FetchOptions {
  /** The address of the model hub. */
  readonly hub: string;
  readonly signal?: AbortSignal | undefined;
  /** How long the hub may send nothing; a minute by default. */
  readonly idleMs?: number;
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
  { hub, signal, idleMs = IDLE_MS, onProgress }: FetchOptions,
): Promise<void> {
  const url = new URL(`${model}/resolve/main/${file}`, hub.endsWith('/') ? hub : `${hub}/`);
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(), idleMs);
  try {
    const response = await createNetworkFetch()(url, {
      signal: AbortSignal.any([idle.signal, ...(signal ? [signal] : [])]),
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new AppError(
        'unreachable',
        `The embedding model ${model} could not be downloaded: ${url.host} responded ${response.status} for ${file}. Check the name of the model.`,
      );
    }
    const total = Number(response.headers.get('content-length') ?? 0);
    let done = 0;
    const chunks = bounded(response.body, `${file} of ${model}`, MOST_BYTES[file] ?? 0);
    const counted = async function* (): AsyncGenerator<Uint8Array, void> {
      for await (const chunk of chunks) {
        timer.refresh();
        done += chunk.length;
        onProgress(done, Math.max(total, done));
        yield chunk;
      }
    };
    await pipeline(counted, createWriteStream(join(folder, file), { mode: 0o600 }));
    if (done < total) {
      const message = `The connection to ${url.host} was lost while ${file} was downloaded. Try again.`;
      throw new AppError('unreachable', message);
    }
  } catch (error) {
    if (!idle.signal.aborted) throw error;
    const seconds = formatDuration(idleMs / 1000);
    throw new AppError(
      'unreachable',
      `${url.host} sent nothing for ${seconds} while ${file} of ${model} was downloaded. Try again later.`,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** @throws AppError `limit` if the body is larger than `most`. */
async function* bounded(
  body: ReadableStream<Uint8Array>,
  name: string,
  most: number,
): AsyncGenerator<Uint8Array, void> {
  let done = 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- web streams are iterable in Node.js
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    done += chunk.length;
    if (done > most) {
      const limit = Math.floor(most / 1e6);
      throw new AppError(
        'limit',
        `${name} is larger than ${limit} MB, the maximum for this file. Choose another model.`,
      );
    }
    yield chunk;
  }
}
