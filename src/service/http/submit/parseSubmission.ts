import { posix } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { type Submission, submission } from '../../../remote/protocol/jobTerms.ts';
import { isInside } from '../../../remote/protocol/termValues.ts';
import { schemaMessage, schemaProblems } from '../../../core/text/schemaMessage.ts';
import { splitWords } from '../../../core/text/splitWords.ts';
import { parseJson } from '../../../core/jsonFields.ts';
import { kindOfFile, SCRIPT_KINDS } from '../../../workspace/scripts/scriptKinds.ts';
import { readShebang } from '../../../workspace/scripts/shebang.ts';

/**
 * Parses the field `meta`.
 *
 * @throws AppError `bad-input` that names the wrong field.
 */
export function parseSubmission(text: string): Submission {
  let value: unknown;
  try {
    value = parseJson(text);
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
 * @throws AppError `bad-input` if the archive does not have the script.
 */
export function parseScript(script: string, files: readonly ArchivedFile[]): readonly [string, ...string[]] {
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
  return [path, ...args];
}

/**
 * Checks that a script can be run, on a machine that has its program. Which programs are there is known only when the job starts, because its
 * packages, modules or container may bring some.
 *
 * @param readStart reads the first bytes of a file; undefined if they are not known.
 * @throws AppError `bad-input` with what to do instead.
 */
export async function checkRunnable(
  path: string,
  files: readonly ArchivedFile[],
  readStart: (path: string) => Promise<Buffer | undefined>,
): Promise<void> {
  const isExecutable = files.some((file) => file.path === path && (file.mode & 0o111) !== 0);
  if (isExecutable || kindOfFile(path) !== undefined) return;
  const start = await readStart(path);
  if (start === undefined || readShebang(start) !== undefined) return;
  const kinds = SCRIPT_KINDS.map(({ title, files: names }) => `${title} (${names.join(', ')})`).join(', ');
  const remedy = `Its first line does not name a program (#!/usr/bin/env NAME), its name is not that of a script, and it is not executable (chmod +x). Scripts are: ${kinds}.`;
  throw new AppError('bad-input', `meta.script: "${path}" cannot be run. ${remedy}`);
}
