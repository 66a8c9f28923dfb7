import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';
import { withoutByteOrderMark } from '../../core/text/textEncoding.ts';
import { parseJson } from '../../core/jsonFields.ts';
import { parseJsonObject } from '../command/flags.ts';

/** The shared state from JSON, or from the file after `@`. */
export async function readSharedFlag(text: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  const json = text.startsWith('@') ? withoutByteOrderMark(await readNamedFile(resolve(cwd, text.slice(1)))) : text;
  return parseJsonObject(json, '--shared', '{"topic": "harbours"}');
}

/** The answer in `--input`. @throws AppError `bad-input` if it is not JSON. */
export function parseAnswerFlag(json: string): unknown {
  try {
    return parseJson(json);
  } catch (cause) {
    throw new AppError('bad-input', `--input is not valid JSON. A text needs quotes: --input '"yes"'.`, { cause });
  }
}
