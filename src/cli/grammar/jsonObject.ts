import { readFile } from 'node:fs/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import { withoutByteOrderMark } from '../../core/text/textEncoding.ts';
import { readProblem } from '../../core/files/readProblem.ts';

/** The text of a file that a flag names. @throws AppError `missing` if it cannot be read. */
export async function readNamedFile(path: string): Promise<string> {
  try {
    return withoutByteOrderMark(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new AppError('missing', readProblem(path, cause), { cause });
  }
}

/** A JSON object. @param name the source of the text, for errors. @throws AppError `bad-input` for any other text. */
export function parseJsonObject(text: string, name: string, example: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad-input', `${name} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AppError('bad-input', `${name} must be a JSON object such as ${example}.`);
}
