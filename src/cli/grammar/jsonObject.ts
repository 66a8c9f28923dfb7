import { AppError, messageOf } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';

/** A JSON object. @param name the source of the text, for errors. @throws AppError `bad-input` for any other text. */
export function parseJsonObject(text: string, name: string, example: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new AppError('bad-input', `${name} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AppError('bad-input', `${name} must be a JSON object such as ${example}.`);
}
