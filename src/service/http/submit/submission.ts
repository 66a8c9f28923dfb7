import { posix } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { isInside, type Submission, submission } from '../../../remote/protocol/submission.ts';
import { schemaMessage, schemaProblems } from '../../../core/text/schemaMessage.ts';
import { splitWords } from '../../../core/text/splitWords.ts';
import { hasInterpreter } from '../../runner/program/interpreter.ts';

/**
 * Parses the field `meta`.
 *
 * @throws AppError `bad-input` that names the wrong field.
 */
export function parseSubmission(text: string): Submission {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad-input', 'The field "meta" is not JSON.', { cause });
  }
  const result = submission.safeParse(value, { error: schemaMessage });
  if (result.success) return result.data;
  throw new AppError(
    'bad-input',
    schemaProblems(result.error, (path) => (path === '' ? 'meta' : `meta.${path}`)),
  );
}

interface ArchivedFile {
  readonly path: string;
  readonly mode: number;
}

/**
 * Splits `script` into words. The first is a path inside the workspace.
 *
 * @throws AppError `bad-input` if the archive does not have the script, or it cannot be run.
 */
export function parseCommand(script: string, files: readonly ArchivedFile[]): readonly [string, ...string[]] {
  const words = splitWords(script);
  if (words === undefined) throw new AppError('bad-input', 'meta.script: a quote is not closed.');
  const [name = '', ...args] = words;
  const path = posix.normalize(name);
  if (name === '' || !isInside(path)) {
    throw new AppError('bad-input', 'meta.script: must begin with a path inside the folder, like "train.py".');
  }
  const file = files.find((candidate) => candidate.path === path);
  if (file === undefined) {
    const message = `meta.script: "${path}" is not in the archive. Specify its path relative to the folder, and make sure that it is not ignored.`;
    throw new AppError('bad-input', message);
  }
  if (!hasInterpreter(path) && (file.mode & 0o111) === 0) {
    const message = `meta.script: "${path}" is neither a Python (.py), shell (.sh), JavaScript (.js, .mjs, .cjs) or TypeScript (.ts, .mts, .cts) file nor executable. Make it executable (chmod +x).`;
    throw new AppError('bad-input', message);
  }
  return [path, ...args];
}
