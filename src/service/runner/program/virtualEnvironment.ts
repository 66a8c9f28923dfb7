import { statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import type { VirtualEnvironmentSpec } from '../../jobFiles/runnerSpec.ts';

export const STEP_LIMIT_MS = 30 * 60_000;

export interface Step {
  readonly file: string;
  readonly args: readonly string[];
  /** What it does, as in "while …". */
  readonly doing: string;
  /** The message if this step fails. */
  readonly failure: string;
  /** Whether nothing is charged if it fails, because the account's programs have no part in it. */
  readonly isFree?: boolean;
}

/** Whether an environment must be built, rather than only variables set. */
export function needsPython(spec: VirtualEnvironmentSpec): boolean {
  return spec.python !== undefined || spec.requirements !== undefined;
}

/** The maximum time for building an environment, in seconds: each of its two steps has its own limit. */
export function setupLimitSeconds(spec: VirtualEnvironmentSpec): number {
  return needsPython(spec) ? (2 * STEP_LIMIT_MS) / 1000 : 0;
}

/** Variables that put a built environment first, like its `activate` script. */
export function activation(folder: JobFolder, searchPath: string): Record<string, string> {
  return {
    VIRTUAL_ENV: folder.virtualEnvironment,
    PATH: `${binaries(folder)}${delimiter}${searchPath}`,
  };
}

/**
 * The commands that build a job's virtual environment, in order.
 *
 * @param python the interpreter that creates it.
 * @throws AppError `missing` if the requirements file does not exist.
 */
export function buildSteps(folder: JobFolder, spec: VirtualEnvironmentSpec, python: string): readonly Step[] {
  const doing = 'the virtual environment was set up';
  const steps: Step[] = [
    {
      doing,
      file: python,
      args: ['-m', 'venv', folder.virtualEnvironment],
      failure:
        "Python's virtual environment could not be created. If its modules venv or ensurepip are missing, install them (on Debian and Ubuntu the package python3-venv), then submit again; the job's log has the details.",
    },
  ];
  const requirements = requirementsFile(folder, spec.requirements);
  if (requirements !== undefined) {
    steps.push({
      doing,
      file: environmentPython(folder),
      args: ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--requirement', requirements],
      failure: "The requirements could not be installed. The end of the job's log has the cause.",
    });
  }
  return steps;
}

/** The interpreter of the environment. */
export function environmentPython(folder: JobFolder): string {
  return join(binaries(folder), process.platform === 'win32' ? 'python.exe' : 'python');
}

/** The folder with the programs of the environment. */
export function binaries(folder: JobFolder): string {
  return join(folder.virtualEnvironment, process.platform === 'win32' ? 'Scripts' : 'bin');
}

function requirementsFile(folder: JobFolder, requirements: string | readonly string[] | undefined): string | undefined {
  if (requirements === undefined || requirements.length === 0) return undefined;
  if (typeof requirements !== 'string') {
    writeFileSync(folder.requirements, `${requirements.join('\n')}\n`, { mode: 0o600 });
    return folder.requirements;
  }
  const path = join(folder.workspace, requirements);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new AppError(
      'missing',
      `The folder has no ${requirements}. Add it or correct "requirements", then submit again.`,
    );
  }
  return path;
}
