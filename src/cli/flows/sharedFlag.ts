import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';

/** The shared state from JSON, or from the file after `@`. */
export async function readShared(text: string): Promise<Readonly<Record<string, unknown>>> {
  const json = text.startsWith('@') ? await readText(text.slice(1)) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new AppError('bad-input', `--shared is not valid JSON: ${messageOf(cause)}`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('bad-input', '--shared must be a JSON object such as {"topic": "harbours"}.');
  }
  return value as Readonly<Record<string, unknown>>;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(resolve(path), 'utf8');
  } catch (cause) {
    throw new AppError('missing', `The file of --shared cannot be read: ${messageOf(cause)}`, { cause });
  }
}
