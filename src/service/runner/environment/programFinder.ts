import { AppError } from '../../../core/errors.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';

/** Finds programs where those of the job run. */
export interface ProgramFinder {
  /** Python by a command such as `python3.12`, any Python 3 by default. @throws AppError `missing` with what to install. */
  python(name: string | undefined): string;
  /** The first of several programs that exists; undefined if none does. */
  find(names: readonly string[]): string | undefined;
  /** uv, if it is known to exist; otherwise pip must do. */
  readonly uv: string | undefined;
}

/** @param searchPath like PATH. */
export function programsOnMachine(searchPath: string): ProgramFinder {
  return {
    python: (name) => findPython(name, searchPath),
    find: (names) => names.map((name) => findProgram(name, searchPath)).find((path) => path !== undefined),
    uv: findProgram('uv', searchPath),
  };
}

/** A container looks for programs in its own search path, so missing ones are noticed only when they are started. */
export const PROGRAMS_IN_CONTAINER: ProgramFinder = {
  python: (name = 'python3') => name,
  find: ([name]) => name,
  uv: undefined,
};

/**
 * Path of a Python interpreter on this machine.
 *
 * @throws AppError `missing` with what to install.
 */
export function findPython(name: string | undefined, searchPath: string): string {
  const names = name === undefined ? ['python3', 'python'] : [name];
  for (const candidate of names) {
    const found = findProgram(candidate, searchPath);
    if (found !== undefined) return found;
  }
  const message =
    name === undefined
      ? 'python3 was not found on the machine that runs jobs. Install Python 3 there, then submit again.'
      : `${name} was not found on the machine that runs jobs. Install it there or name another Python in "venv", then submit again.`;
  throw new AppError('missing', message);
}
