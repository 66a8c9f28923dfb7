import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError, assertNever } from '../../../core/errors.ts';
import {
  PACKAGE_TOOLS,
  type PackageList,
  type PackageTool,
  pipRequirements,
} from '../../../workspace/environments/packageList.ts';
import type { PipRequirements } from '../../../workspace/environments/projectPackages.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import type { VirtualEnvironmentSpec } from '../../jobFiles/runnerSpec.ts';
import { condaPrefix, pythonOf, rLibrary } from './jobPackages.ts';
import { type ProgramFinder, programsOnMachine } from './programFinder.ts';

export const STEP_LIMIT_MS = 30 * 60_000;
// Besides the check of Python's version, which takes no time.
const MOST_STEPS = 2;
const CONDA = ['micromamba', 'mamba', 'conda'];
const DOING = 'the packages were installed';
const REQUIREMENTS_FAILURE = 'The requirements could not be installed.';
// Without this, it could use the Python that another folder chose.
const PDM = { PDM_IGNORE_SAVED_PYTHON: '1', PDM_CHECK_UPDATE: '0' };

/** A command of the setup of a job. */
export interface Step {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables besides the job's. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the log says of it; its command line if absent. */
  readonly note?: string;
  /** What it does, as in "while …". */
  readonly doing: string;
  /** The message if this step fails. */
  readonly failure: string;
  /** Whether nothing is charged if it fails, because the account's programs have no part in it. */
  readonly isFree?: boolean;
}

/** What a build needs to know. */
export interface BuildRequest {
  readonly list: PackageList;
  readonly spec: VirtualEnvironmentSpec;
  readonly folder: Pick<JobFolder, 'requirements'>;
  /** The folder with the files of the list. */
  readonly lists: string;
  /** Where programs run that need no file of the list. */
  readonly cwd: string;
  /** The environment's folder, which exists. */
  readonly target: string;
  /** Whether other jobs will use it, so that it must not contain what belongs to the folder. */
  readonly isKept: boolean;
  readonly programs: ProgramFinder;
}

/** Whether packages must be installed, rather than only variables set. */
function needsBuild(spec: VirtualEnvironmentSpec): boolean {
  return spec.python !== undefined || spec.requirements !== undefined;
}

/** The maximum time for installing packages, in seconds: each step has its own limit. */
export function setupLimitSeconds(spec: VirtualEnvironmentSpec): number {
  return needsBuild(spec) ? (MOST_STEPS * STEP_LIMIT_MS) / 1000 : 0;
}

/** The programs that decide which environment results, so that each machine and version gets its own. @throws as `buildSteps`. */
export function toolsOf(request: Pick<BuildRequest, 'list' | 'spec' | 'programs'>): readonly string[] {
  const { list, spec, programs } = request;
  const withPip = (): readonly string[] =>
    [programs.python(spec.python), programs.uv].filter((path) => path !== undefined);
  switch (list.tool) {
    case 'pip':
      return withPip();
    case 'uv':
    case 'poetry':
    case 'pdm':
      return lockedFor(request) === undefined ? [programs.python(spec.python), find([list.tool], programs)] : withPip();
    case 'conda':
      return [find(CONDA, programs)];
    case 'npm':
    case 'pnpm':
    case 'yarn':
      return [find([list.tool], programs), find(['node'], programs)];
    case 'renv':
      return [find(['Rscript'], programs)];
    default:
      return assertNever(list.tool);
  }
}

/** The tools that a machine has. */
export function installedTools(searchPath: string): readonly PackageTool[] {
  const machine = programsOnMachine(searchPath);
  return PACKAGE_TOOLS.filter((tool) => machine.find(PROGRAMS[tool] ?? [tool]) !== undefined);
}

const PROGRAMS: Readonly<Partial<Record<PackageTool, readonly string[]>>> = {
  pip: ['python3', 'python'],
  conda: CONDA,
  renv: ['Rscript'],
};

/**
 * The commands that install the packages of a list, in order.
 *
 * @throws AppError `missing` if a program does not exist, `bad-input` if the list cannot be installed here.
 */
export function buildSteps(request: BuildRequest): readonly Step[] {
  const { list } = request;
  switch (list.tool) {
    case 'pip':
      return pipSteps(request, pipRequirements(list));
    case 'uv':
    case 'poetry':
    case 'pdm': {
      const locked = lockedFor(request);
      if (locked !== undefined) return pipSteps(request, locked);
      return list.tool === 'uv' ? [uvStep(request)] : projectSteps(request, list.tool);
    }
    case 'conda':
      return [condaStep(request)];
    case 'npm':
    case 'pnpm':
    case 'yarn':
      return [nodeStep(request, NODE_INSTALLS[list.tool])];
    case 'renv':
      return [renvStep(request)];
    default:
      return assertNever(list.tool);
  }
}

/**
 * What pip or uv install in place of the tool that wrote a lock file: pip and uv are where Python is, and they check the same hashes.
 * Undefined for uv's own lock files where uv is, and if only the tool can install it.
 *
 * @throws AppError `missing` if the tool does not exist then, with the reason.
 */
function lockedFor({ list, programs }: Pick<BuildRequest, 'list' | 'programs'>): PipRequirements | undefined {
  if (list.tool === 'uv' && programs.uv !== undefined) return undefined;
  try {
    return pipRequirements(list);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (programs.find([list.tool]) !== undefined) return undefined;
    const message = `${list.tool} was not found on the machine that runs jobs. ${error.message}. Install it there, then submit again.`;
    throw new AppError('missing', message, { cause: error });
  }
}

// Python loads no module from the current folder or from what variables name.
const ISOLATED = '-I';

// A comparison of versions as in PEP 440, "Version specifiers", for numbers. What it does not know, it leaves to the installer.
const CHECK_PYTHON = `
import re, sys
version = list(sys.version_info[:3])
def fits(operator, number):
    wanted = [int(part) for part in number.replace('.*', '').split('.')]
    own = version[:len(wanted)]
    same = own == wanted if number.endswith('.*') else version == (wanted + [0, 0])[:3]
    tests = {'>=': own >= wanted, '>': version > (wanted + [0, 0])[:3], '<=': version <= (wanted + [0, 0])[:3], '<': own < wanted}
    tests.update({'==': same, '!=': not same, '~=': own >= wanted and own[:-1] == wanted[:-1]})
    return tests[operator]
known = re.findall(r'(~=|==|!=|<=|>=|<|>)\\s*(\\d+(?:\\.\\d+)*(?:\\.\\*)?)(?=\\s*(?:,|$))', sys.argv[1])
if not all(fits(*each) for each in known):
    sys.exit('This is Python ' + '.'.join(map(str, version)))
`;

/** @param listed what is installed; undefined if a requirements file or the lines of the job say it. */
function pipSteps(
  { list, spec, folder, lists, cwd, target, programs }: BuildRequest,
  listed?: PipRequirements,
): readonly Step[] {
  const { uv } = programs;
  const python = programs.python(spec.python);
  const check: Step = {
    file: python,
    args: [ISOLATED, '-c', CHECK_PYTHON, listed?.python ?? ''],
    cwd,
    note: `${list.name} needs Python ${listed?.python ?? ''}`,
    doing: 'the version of Python was checked',
    failure: `${list.name} needs Python ${listed?.python ?? ''}, and ${basename(python)} is another version. Name one of them in "python" of "venv", such as "3.12", then submit again.`,
  };
  const create: Step = {
    ...(uv === undefined
      ? { file: python, args: [ISOLATED, '-m', 'venv', target] }
      : { file: uv, args: ['venv', '--allow-existing', '--python', python, target] }),
    cwd,
    doing: 'the virtual environment was set up',
    failure:
      "Python's virtual environment could not be created. If its modules venv or ensurepip are missing, install them (on Debian and Ubuntu the package python3-venv), then submit again; the job's log has the details.",
  };
  const before = listed?.python === undefined ? [create] : [check, create];
  const requirements = requirementsFile({ ...folder, lists }, listed?.lines ?? spec.requirements);
  if (requirements === undefined) return before;
  const own = pythonOf({ tool: 'pip', path: target }) ?? python;
  const install: Step = {
    ...(uv === undefined
      ? { file: own, args: [ISOLATED, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input'] }
      : { file: uv, args: ['pip', 'install', '--python', own, '--compile-bytecode'] }),
    cwd,
    // A package of one index may have the name of one of another, but not its hash.
    ...(listed?.isLocked === true && { env: { UV_INDEX_STRATEGY: 'unsafe-best-match' } }),
    doing: DOING,
    failure: typeof spec.requirements === 'string' && listed !== undefined ? failureFor(list) : REQUIREMENTS_FAILURE,
  };
  const exactly = listed?.isLocked === true ? ['--require-hashes', '--no-deps'] : [];
  return [...before, { ...install, args: [...install.args, ...exactly, '--requirement', requirements] }];
}

/** Poetry or PDM, without the project itself, as in `uvStep`, and without what only development needs. */
function projectSteps(request: BuildRequest, tool: 'poetry' | 'pdm'): readonly Step[] {
  const { list, lists, programs } = request;
  const [create] = pipSteps(request, { lines: [], isLocked: false, python: undefined });
  const install: Step = {
    file: find([tool], programs),
    ...(tool === 'poetry'
      ? { args: ['install', '--no-root', '--only', 'main', '--no-interaction', '--no-ansi'] }
      : { args: ['sync', '--prod', '--no-self', '--no-editable'], env: PDM }),
    cwd: join(lists, dirname(list.name)),
    doing: DOING,
    failure: failureFor(list),
  };
  return create === undefined ? [install] : [create, install];
}

/** If the project itself were installed, all later jobs would use that of the first submission. */
function uvStep({ list, spec, lists, target, isKept, programs }: BuildRequest): Step {
  const python = programs.python(spec.python);
  const withoutProject = isKept ? ['--no-install-workspace'] : [];
  return {
    file: find(['uv'], programs),
    args: ['sync', '--frozen', '--compile-bytecode', '--python', python, ...withoutProject],
    cwd: join(lists, dirname(list.name)),
    env: { UV_PROJECT_ENVIRONMENT: target },
    doing: DOING,
    failure: failureFor(list),
  };
}

function condaStep({ list, lists, cwd, target, programs }: BuildRequest): Step {
  const file = find(CONDA, programs);
  const command = basename(file) === 'micromamba' ? ['create', '--yes'] : ['env', 'create'];
  return {
    file,
    args: [...command, '--prefix', condaPrefix(target), '--file', join(lists, list.name)],
    cwd,
    doing: DOING,
    failure: failureFor(list),
  };
}

interface NodeInstall {
  readonly args: (lock: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What installs them in the folder. */
  readonly command: string;
}

const NODE_INSTALLS: Readonly<Record<'npm' | 'pnpm' | 'yarn', NodeInstall>> = {
  npm: { args: () => ['ci', '--no-audit', '--no-fund', '--no-update-notifier'], command: 'npm ci' },
  pnpm: {
    // Links to its store would be files of other environments too.
    args: () => ['install', '--frozen-lockfile', '--config.package-import-method=copy'],
    env: { CI: 'true' },
    command: 'pnpm install --frozen-lockfile',
  },
  yarn: {
    // Yarn 1 would silently replace a lock file of later versions, unless it has the option that is only an older name for them.
    args: (lock) =>
      isOfYarn1(lock) ? ['install', '--frozen-lockfile'] : ['install', '--immutable', '--frozen-lockfile'],
    // The folder must not choose another program, and Node.js finds nothing in the archives of Plug'n'Play.
    env: { YARN_IGNORE_PATH: '1', YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_TELEMETRY: '0' },
    command: 'yarn install --immutable',
  },
};

function isOfYarn1(lock: string): boolean {
  return !/^__metadata:/m.test(lock);
}

function nodeStep({ list, target, programs }: BuildRequest, { args, env, command }: NodeInstall): Step {
  if (list.localPackage !== undefined) {
    const message = `${list.name} takes ${list.localPackage} from the folder, so its packages can only be installed in the folder itself. Run ${command} in the script.`;
    throw new AppError('bad-input', message);
  }
  for (const { path, text } of list.files) writeFileSync(join(target, basename(path)), text);
  return {
    file: find([list.tool], programs),
    args: args(list.files[0]?.text ?? ''),
    cwd: target,
    ...(env && { env }),
    doing: DOING,
    failure: failureFor(list),
  };
}

const RESTORE =
  'args <- commandArgs(TRUE); renv::restore(project = args[1], library = args[2], lockfile = args[3], prompt = FALSE)';

function renvStep({ list, lists, cwd, target, programs }: BuildRequest): Step {
  const library = rLibrary(target);
  mkdirSync(library, { recursive: true, mode: 0o700 });
  return {
    file: find(['Rscript'], programs),
    args: ['--vanilla', '-e', RESTORE, target, library, join(lists, list.name)],
    cwd,
    // Links to its cache would lead to files that jobs do not see.
    env: { RENV_CONFIG_CACHE_ENABLED: 'FALSE', RENV_CONFIG_AUTOLOADER_ENABLED: 'FALSE' },
    doing: DOING,
    failure: failureFor(list),
  };
}

function failureFor({ name }: PackageList): string {
  return `The packages of ${name} could not be installed.`;
}

/** @throws AppError `missing` with what to install. */
function find(names: readonly string[], programs: ProgramFinder): string {
  const found = programs.find(names);
  if (found !== undefined) return found;
  const message = `${names.join(' or ')} was not found on the machine that runs jobs. Install it there, then submit again.`;
  throw new AppError('missing', message);
}

/** Lines become a file; undefined if nothing is installed. */
function requirementsFile(
  folder: Pick<BuildRequest, 'lists'> & BuildRequest['folder'],
  requirements: VirtualEnvironmentSpec['requirements'],
): string | undefined {
  if (requirements === undefined || requirements.length === 0) return undefined;
  if (typeof requirements === 'string') return join(folder.lists, requirements);
  writeFileSync(folder.requirements, `${requirements.join('\n')}\n`, { mode: 0o600 });
  return folder.requirements;
}
