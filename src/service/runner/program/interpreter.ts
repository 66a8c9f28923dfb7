import { basename, dirname, join, resolve } from 'node:path';
import { constants } from 'node:fs';
import { AppError } from '../../../core/errors.ts';
import { isAccessible } from '../../../core/processes/findProgram.ts';
import { printableLine } from '../../../core/text/printable.ts';
import {
  kindOfFile,
  kindOfProgram,
  SCRIPT_KINDS,
  type ScriptKind,
  type ScriptKindName,
} from '../../../workspace/scripts/scriptKinds.ts';
import { NOTEBOOK_PROGRAM } from './notebookProgram.ts';
import { readShebang, type Shebang } from '../../../workspace/scripts/shebang.ts';
import { type JobPackages, pythonOf } from '../environment/jobPackages.ts';
import {
  findPython,
  type ProgramFinder,
  PROGRAMS_IN_CONTAINER,
  programsOnMachine,
} from '../environment/programFinder.ts';

const PYTHONS: ReadonlySet<string> = new Set(['python', 'python3']);
const NODE = 'node';

export interface ProgramCall {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that this program needs in addition to the job's own. */
  readonly env: Readonly<Record<string, string>>;
}

/** A script of a job. */
export interface JobScript {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** The absolute path of the job's folder. */
  readonly workspace: string;
  /** Its first bytes; empty if the job cannot read it. */
  readonly start: Buffer;
  readonly args: readonly string[];
}

/** The machine that runs a job. */
export interface JobMachine {
  /** Like PATH; the job's packages come first in it. */
  readonly searchPath: string;
  readonly packages: JobPackages | undefined;
  /** Whether a path is the same file for the job as for the service. */
  readonly isVisible: (path: string) => boolean;
}

/** The kinds of scripts whose programs a machine has. */
export function installedKinds(searchPath: string): readonly ScriptKindName[] {
  const programs = programsOnMachine(searchPath);
  return SCRIPT_KINDS.filter((kind) => isOfNode(kind) || programs.find(kind.programs) !== undefined).map(
    ({ name }) => name,
  );
}

/**
 * The program that runs a script: the one that its first line names, else the one for the name of the file. Any other file is a program
 * itself.
 *
 * @throws AppError `missing` with what to install.
 */
export function programFor(script: JobScript, { searchPath, packages, isVisible }: JobMachine): ProgramCall {
  const programs = programsOnMachine(searchPath);
  const named = (name: string): ProgramCall => {
    const found = namedOnMachine(name, searchPath);
    if (found === undefined) throw missingNamed(name, script);
    return found;
  };
  return chooseProgram(script, packages, {
    named,
    at: (path) => {
      // Windows has no such paths, and its scripts are shared with other systems.
      if (process.platform === 'win32') return named(basename(path));
      const file = resolve(script.workspace, path);
      if (isVisible(file) && isAccessible(file, constants.X_OK)) return call(file);
      throw missingAt(path, script, programs);
    },
    ofKind: (kind) => {
      if (isOfNode(kind)) return ownNode();
      const file = PYTHONS.has(kind.programs[0] ?? '')
        ? findPython(undefined, searchPath)
        : programs.find(kind.programs);
      if (file === undefined) throw missingFor(kind, script);
      return call(file);
    },
  });
}

/** The program that runs a script in a container, which looks for it in its own search path. */
export function programInContainer(script: JobScript, packages: JobPackages | undefined): ProgramCall {
  const named = (name: string): ProgramCall => namedInContainer(name, packages);
  return chooseProgram(script, packages, {
    named,
    at: call,
    ofKind: ({ programs }) => named(PROGRAMS_IN_CONTAINER.find(programs) ?? ''),
  });
}

/** How programs are found. */
interface ProgramLookup {
  readonly named: (name: string) => ProgramCall;
  readonly at: (path: string) => ProgramCall;
  readonly ofKind: (kind: ScriptKind) => ProgramCall;
}

function chooseProgram(script: JobScript, packages: JobPackages | undefined, lookup: ProgramLookup): ProgramCall {
  const { path, workspace, start, args } = script;
  const file = join(workspace, path);
  const shebang = readShebang(start);
  if (shebang !== undefined) {
    const found = startsByName(shebang, packages)
      ? lookup.named(basename(shebang.program))
      : lookup.at(shebang.program);
    return { ...found, args: [...shebang.args, file, ...args] };
  }
  const kind = kindOfFile(path);
  if (kind === undefined) return { file, args, env: {} };
  return { ...lookup.ofKind(kind), args: [...startOf(kind, file), ...args] };
}

/** The first arguments of the program that runs a file. */
function startOf({ name }: ScriptKind, file: string): readonly string[] {
  if (name === 'notebook') return ['-c', NOTEBOOK_PROGRAM, file];
  // Rules of a makefile expect to run in its folder.
  return name === 'make' ? ['-C', dirname(file), '-f', basename(file)] : [file];
}

/** A job that installs packages of Python means their Python, whichever path names one: another one would find none of them. */
function startsByName({ program, isLookedUp }: Shebang, packages: JobPackages | undefined): boolean {
  if (isLookedUp) return true;
  return PYTHONS.has(basename(program)) && packages !== undefined && pythonOf(packages) !== undefined;
}

/** A program by its name; undefined if the machine does not have it. @throws AppError `missing` without any Python 3. */
export function namedOnMachine(name: string, searchPath: string): ProgramCall | undefined {
  // Many systems have only one of the two names.
  if (PYTHONS.has(name)) return call(findPython(undefined, searchPath));
  const file = programsOnMachine(searchPath).find([name]);
  if (file !== undefined) return call(file);
  return name === NODE ? ownNode() : undefined;
}

/** A program by its name, which the container looks up. */
export function namedInContainer(name: string, packages: JobPackages | undefined): ProgramCall {
  const python = packages && pythonOf(packages);
  return call(PYTHONS.has(name) ? (python ?? name) : name);
}

/** The Node.js that runs this. The machine may have no other. */
function ownNode(): ProgramCall {
  const env: ProgramCall['env'] = process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
  return { file: process.execPath, args: [], env };
}

function call(file: string): ProgramCall {
  return { file, args: [], env: {} };
}

function isOfNode({ programs }: ScriptKind): boolean {
  return programs.includes(NODE);
}

function missingNamed(name: string, { path }: JobScript): AppError {
  const message = `The first line of ${path} names ${name}, which was not found on the machine that runs jobs. Correct the line, or install ${name} there, then submit again.`;
  return new AppError('missing', printableLine(message));
}

function missingAt(program: string, { path }: JobScript, programs: ProgramFinder): AppError {
  const name = basename(program);
  const remedy =
    programs.find([name]) === undefined
      ? 'Correct the line, or install the program there, then submit again.'
      : `Write #!/usr/bin/env ${name} to use the one that is there, then submit again.`;
  const message = `The first line of ${path} names ${program}, which does not exist on the machine that runs jobs. ${remedy}`;
  return new AppError('missing', printableLine(message));
}

function missingFor({ title, programs: [program = ''] }: ScriptKind, { path }: JobScript): AppError {
  const message = `${path} is run with ${program}, which was not found on the machine that runs jobs. Install ${title} there, or submit to another service.`;
  return new AppError('missing', printableLine(message));
}

/** Whether a script is run by a shell, which cannot read the line ends of Windows. */
export function isShellScript({ path, start }: Pick<JobScript, 'path' | 'start'>): boolean {
  const shebang = readShebang(start);
  return (shebang === undefined ? kindOfFile(path) : kindOfProgram(shebang.program))?.name === 'shell';
}
