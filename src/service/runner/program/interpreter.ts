import { extname, join } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';
import { findPython } from '../environment/programFinder.ts';

const NODE_EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

export interface ProgramCall {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that this program needs in addition to the job's own. */
  readonly env: Readonly<Record<string, string>>;
}

/** Whether the service can start a script by its extension. Any other script must be executable. */
export function hasInterpreter(script: string): boolean {
  return ['.py', '.sh', ...NODE_EXTENSIONS].includes(extname(script));
}

/**
 * The program that runs a script.
 *
 * @param searchPath like PATH; the job's virtual environment comes first in it.
 * @throws AppError `missing` with what to install.
 */
export function programFor(
  script: string,
  args: readonly string[],
  workspace: string,
  searchPath: string,
): ProgramCall {
  const path = join(workspace, script);
  const extension = extname(script);
  if (extension === '.py') return { file: findPython(undefined, searchPath), args: [path, ...args], env: {} };
  if (extension === '.sh') {
    const shell = findProgram('bash', searchPath) ?? findProgram('sh', searchPath);
    if (shell === undefined) {
      throw new AppError(
        'missing',
        'No shell was found. Install bash on the machine that runs jobs, then submit again.',
      );
    }
    return { file: shell, args: [path, ...args], env: {} };
  }
  if (NODE_EXTENSIONS.includes(extension)) {
    const env: ProgramCall['env'] = process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
    return { file: process.execPath, args: [path, ...args], env };
  }
  return { file: path, args, env: {} };
}

/**
 * The program that runs a script in a container, which looks for it in its own search path.
 *
 * @param python the interpreter of the job's virtual environment, if it has one.
 */
export function programInContainer(
  script: string,
  args: readonly string[],
  workspace: string,
  python = 'python3',
): ProgramCall {
  const path = join(workspace, script);
  const extension = extname(script);
  const interpreter =
    extension === '.py'
      ? python
      : extension === '.sh'
        ? 'bash'
        : NODE_EXTENSIONS.includes(extension)
          ? 'node'
          : undefined;
  return interpreter === undefined
    ? { file: path, args, env: {} }
    : { file: interpreter, args: [path, ...args], env: {} };
}
