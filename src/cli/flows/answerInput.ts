import { AppError } from '../../core/errors.ts';

/** The answer in `--input`. @throws AppError `bad-input` if it is not JSON. */
export function readAnswer(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new AppError('bad-input', `--input is not valid JSON. A text needs quotes: --input '"yes"'.`, { cause });
  }
}
