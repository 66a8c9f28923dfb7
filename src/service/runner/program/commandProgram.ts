import { constants, existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { isAccessible } from '../../../core/processes/findProgram.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { JobPackages } from '../environment/jobPackages.ts';
import { type JobMachine, namedInContainer, namedOnMachine, type ProgramCall } from './interpreter.ts';

const MAX_NAME_CHARACTERS = 200;

/** A command of a job: its program and the arguments. */
export interface JobCommand {
  /** A name that is looked up in the search path, or a path: absolute, or relative to the job's folder. */
  readonly program: string;
  readonly args: readonly string[];
  /** The absolute path of the job's folder. */
  readonly workspace: string;
}

/**
 * The program that a command names, looked up as a shell would.
 *
 * @throws AppError `missing` that names the program and what to do.
 */
export function programOfCommand(
  { program, args, workspace }: JobCommand,
  { searchPath, isVisible }: JobMachine,
): ProgramCall {
  // Nothing else is asked for, as in `assertStarts`.
  const file = resolve(workspace, program);
  const isThere = isVisible(file) && existsSync(file);
  if (isPath(program)) {
    if (isThere && isAccessible(file, constants.X_OK)) return { file, args, env: {} };
    if (isThere) throw notExecutable(program);
    throw missingPath(program, namedOnMachine(basename(program), searchPath) !== undefined);
  }
  const found = namedOnMachine(program, searchPath);
  if (found === undefined) throw missingName(program, isThere);
  return { ...found, args };
}

/** The same in a container, which looks for the program in its own search path. */
export function commandInContainer(
  { program, args, workspace }: JobCommand,
  packages: JobPackages | undefined,
): ProgramCall {
  const found = isPath(program) ? { file: resolve(workspace, program), env: {} } : namedInContainer(program, packages);
  return { ...found, args };
}

/** The program of a command in a sentence. */
export function shownProgram(program: string): string {
  const name = printableLine(program);
  return name.length <= MAX_NAME_CHARACTERS ? name : `${name.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…`;
}

function isPath(program: string): boolean {
  return program.includes('/');
}

function notExecutable(program: string): AppError {
  const name = shownProgram(program);
  const message = `${name} is not executable. Make it executable (chmod +x), or name the program that runs it, as in: bash ${name}`;
  return new AppError('missing', message);
}

function missingPath(program: string, isElsewhere: boolean): AppError {
  const remedy = !program.startsWith('/')
    ? 'Check that it is in the folder and is not left out, then submit again.'
    : isElsewhere
      ? `Write ${shownProgram(basename(program))} to use the one that is there, then submit again.`
      : 'Correct the path, or install the program there, then submit again.';
  return new AppError('missing', `${shownProgram(program)} does not exist on the machine that runs jobs. ${remedy}`);
}

function missingName(program: string, isInFolder: boolean): AppError {
  const name = shownProgram(program);
  const remedy = isInFolder
    ? `To run the file of the folder, write ./${name}`
    : "Install it there or with the job's packages, or submit to another service.";
  return new AppError('missing', `${name} was not found on the machine that runs jobs. ${remedy}`);
}
