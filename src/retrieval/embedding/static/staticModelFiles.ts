import { constants, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../../../core/errors.ts';
import { textField } from '../../../core/jsonFields.ts';

export const TABLE_FILE = 'model.safetensors';
export const TOKENIZER_FILE = 'tokenizer.json';
export const CONFIG_FILE = 'config.json';

/** Of each file: the largest models with a table of words have 130 MB, and a tokenizer of 2 MB. */
export const MOST_BYTES: Readonly<Record<string, number>> = {
  [TABLE_FILE]: 256_000_000,
  [TOKENIZER_FILE]: 32_000_000,
  [CONFIG_FILE]: 1_000_000,
};

/**
 * Whether a folder contains a static model. Sentence models have files of the same names, but those also with weights in ONNX, as some
 * static models do; then `config.json` decides.
 */
export async function isStaticModel(folder: string): Promise<boolean> {
  if (![TABLE_FILE, TOKENIZER_FILE].every((file) => existsSync(join(folder, file)))) return false;
  return !existsSync(join(folder, 'onnx')) || isStaticConfig(folder);
}

/** Whether the `config.json` in a folder describes a static model; false if there is none. */
export async function isStaticConfig(folder: string): Promise<boolean> {
  try {
    const config: unknown = JSON.parse((await readModelFile(folder, CONFIG_FILE)).toString());
    return textField(config, 'model_type') === 'model2vec';
  } catch {
    return false;
  }
}

/**
 * The bytes of a file of a static model. Links are followed, because the cache of the model hub consists of them.
 *
 * @throws AppError `missing` if it cannot be read, `limit` if it is larger than any known model.
 */
export async function readModelFile(folder: string, name: string): Promise<Buffer> {
  const path = join(folder, name);
  try {
    // A pipe would wait for its other end.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile()) throw new AppError('missing', `${path} is not a file.`);
    const most = MOST_BYTES[name] ?? 0;
    if (stats.size > most) {
      const [actualMB, mostMB] = [stats.size, most].map((bytes) => Math.ceil(bytes / 1e6));
      throw new AppError('limit', `${path} has ${actualMB} MB, and at most ${mostMB} MB are supported.`);
    }
    return await file.readFile();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('missing', `${path} could not be read: ${messageOf(error)}`, { cause: error });
  }
}
