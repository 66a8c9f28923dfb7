import { posix } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { isInside, type Submission, submission } from '../../../remote/protocol/submission.ts';
import { splitWords } from '../../runner/commandLine.ts';
import { hasInterpreter } from '../../runner/interpreter.ts';

/**
 * Reads the text of the field `meta`.
 *
 * @throws AppError `bad-input` that names the field which is wrong.
 */
export function parseSubmission(text: string): Submission {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad-input', 'The field "meta" is not JSON.', { cause });
  }
  const result = submission.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${['meta', ...path].join('.')}: ${message}`);
  throw new AppError('bad-input', problems.join('; '));
}

interface ArchivedFile {
  readonly path: string;
  readonly mode: number;
}

/**
 * The words of `script`, the first as a path inside the workspace.
 *
 * @throws AppError `bad-input` when it cannot be run because of what it is or because the archive does not have it.
 */
export function parseCommand(script: string, files: readonly ArchivedFile[]): readonly [string, ...string[]] {
  const words = splitWords(script);
  if (words === undefined) throw new AppError('bad-input', 'meta.script: a quote is not closed.');
  const [name = '', ...args] = words;
  const path = posix.normalize(name);
  if (name === '' || !isInside(path)) {
    throw new AppError('bad-input', 'meta.script: it must begin with a path inside the folder, like "train.py".');
  }
  const file = files.find((candidate) => candidate.path === path);
  if (file === undefined) {
    const message = `meta.script: "${path}" is not in the archive. Give its path relative to the folder, and see that it is not ignored.`;
    throw new AppError('bad-input', message);
  }
  if (!hasInterpreter(path) && (file.mode & 0o111) === 0) {
    const message = `meta.script: "${path}" is neither a .py, .sh, .js, .mjs or .ts file nor executable. Make it executable (chmod +x).`;
    throw new AppError('bad-input', message);
  }
  return [path, ...args];
}
