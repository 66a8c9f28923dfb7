import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError, assertNever } from '../../../core/errors.ts';
import type { PackageList } from '../../../workspace/environments/packageList.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import type { VirtualEnvironmentSpec } from '../../jobFiles/runnerSpec.ts';
import { condaPrefix, pythonOf } from './jobPackages.ts';
import type { ProgramFinder } from './programFinder.ts';

export const STEP_LIMIT_MS = 30 * 60_000;
const MOST_STEPS = 2;
const CONDA = ['micromamba', 'mamba', 'conda'];
const DOING = 'the packages were installed';

/** A command of the setup of a job. */
export interface Step {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables besides the job's. */
  readonly env?: Readonly<Record<string, string>>;
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
export function toolsOf({ list, spec, programs }: Pick<BuildRequest, 'list' | 'spec' | 'programs'>): readonly string[] {
  switch (list.tool) {
    case 'pip':
      return [programs.python(spec.python), programs.uv].filter((path) => path !== undefined);
    case 'uv':
      return [programs.python(spec.python), find(['uv'], programs)];
    case 'conda':
      return [find(CONDA, programs)];
    case 'npm':
      return [find(['npm'], programs), find(['node'], programs)];
    default:
      return assertNever(list.tool);
  }
}

/**
 * The commands that install the packages of a list, in order.
 *
 * @throws AppError `missing` if a program does not exist, `bad-input` if the list cannot be installed here.
 */
export function buildSteps(request: BuildRequest): readonly Step[] {
  switch (request.list.tool) {
    case 'pip':
      return pipSteps(request);
    case 'uv':
      return [uvStep(request)];
    case 'conda':
      return [condaStep(request)];
    case 'npm':
      return [npmStep(request)];
    default:
      return assertNever(request.list.tool);
  }
}

// Python loads no module from the current folder or from what variables name.
const ISOLATED = '-I';

function pipSteps({ spec, folder, lists, cwd, target, programs }: BuildRequest): readonly Step[] {
  const { uv } = programs;
  const python = programs.python(spec.python);
  const create: Step = {
    ...(uv === undefined
      ? { file: python, args: [ISOLATED, '-m', 'venv', target] }
      : { file: uv, args: ['venv', '--allow-existing', '--python', python, target] }),
    cwd,
    doing: 'the virtual environment was set up',
    failure:
      "Python's virtual environment could not be created. If its modules venv or ensurepip are missing, install them (on Debian and Ubuntu the package python3-venv), then submit again; the job's log has the details.",
  };
  const requirements = requirementsFile({ ...folder, lists }, spec.requirements);
  if (requirements === undefined) return [create];
  const own = pythonOf({ tool: 'pip', path: target }) ?? python;
  const install: Step = {
    ...(uv === undefined
      ? { file: own, args: [ISOLATED, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input'] }
      : { file: uv, args: ['pip', 'install', '--python', own, '--compile-bytecode'] }),
    cwd,
    doing: DOING,
    failure: "The requirements could not be installed. The end of the job's log has the cause.",
  };
  return [create, { ...install, args: [...install.args, '--requirement', requirements] }];
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

function npmStep({ list, target, programs }: BuildRequest): Step {
  if (list.localPackage !== undefined) {
    const message = `${list.name} takes ${list.localPackage} from the folder, so its packages can only be installed in the folder itself. Run npm ci in the script.`;
    throw new AppError('bad-input', message);
  }
  for (const { path, text } of list.files) writeFileSync(join(target, basename(path)), text);
  return {
    file: find(['npm'], programs),
    args: ['ci', '--no-audit', '--no-fund', '--no-update-notifier'],
    cwd: target,
    doing: DOING,
    failure: failureFor(list),
  };
}

function failureFor({ name }: PackageList): string {
  return `The packages of ${name} could not be installed. The end of the job's log has the cause.`;
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
