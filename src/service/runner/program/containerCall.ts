import { existsSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { AppError } from '../../../core/errors.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';
import { isFetched, type JobContainer } from '../../jobFiles/container.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import { JOB_ID_VARIABLE } from '../../jobFiles/jobProcessTag.ts';
import type { Step } from '../environment/environmentBuild.ts';
import { type JobPackages, locationVariables, programsOf } from '../environment/jobPackages.ts';
import type { JobVariables } from './jobVariables.ts';

// What a program needs to know of its node besides its own variables. Everything else describes programs outside the container.
const OF_NODE =
  /^(?:SLURM_(?!CONF$|JWT$|SPANK).*|(?:CUDA|HIP|NVIDIA|ROCR)_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|OMP_NUM_THREADS|LANG|LC_\w+|TZ|(?:https?|no|all)_proxy)$/i;
// srun and its plugin would obey these themselves, before the container has started.
const OBEYED_BY_SRUN = /^(?:LD_|SLURM_(?:CONF$|SPANK|CONTAINER)|SRUN_|ENROOT_|PYXIS_|PATH$)/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A program to run, and its arguments. */
export interface ContainedProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** A folder or file of the node that the container has under its own path. */
interface Bind {
  readonly path: string;
  readonly isWritable: boolean;
}

/** Where a call is made: the container, the job's folder and its variables, and what else the container sees. */
export interface ContainerSurroundings {
  readonly container: JobContainer;
  readonly folder: JobFolder;
  readonly variables: JobVariables;
  readonly packages: JobPackages | undefined;
  readonly binds: readonly Bind[];
}

type Call = ContainedProgram & { readonly env: Readonly<Record<string, string>> };

/**
 * The call that runs a program in the job's container. It consists of arguments, and no shell reads any of them. The job's variables are
 * in the environment of the runtime only, because everyone on the node can read arguments.
 *
 * @throws AppError `missing` if the node has no runtime or no such image, `bad-input` for a path that the runtime cannot be given.
 */
export function callInContainer(program: ContainedProgram, surroundings: ContainerSurroundings): Call {
  const {
    container,
    folder,
    variables: { inherited, own: ownVariables },
    packages,
  } = surroundings;
  if (!isFetched(container) && !existsSync(container.image))
    throw cannotStart(`the image ${container.image} is missing`);
  for (const each of [folder.virtualEnvironment, folder.home, folder.temporary]) {
    mkdirSync(each, { recursive: true, mode: 0o700 });
  }
  const own: readonly Bind[] = [
    { path: folder.workspace, isWritable: true },
    { path: folder.virtualEnvironment, isWritable: true },
    ...(existsSync(folder.requirements) ? [{ path: folder.requirements, isWritable: false }] : []),
  ];
  const binds = [...own, ...surroundings.binds];
  const unnameable = [...binds.map(({ path }) => path), folder.home, folder.temporary].find((path) =>
    /[:,]/.test(path),
  );
  if (unnameable !== undefined) {
    const message = `The job could not start: a container cannot have ${unnameable}, because its path contains a colon or a comma. Ask the operator of the service to move it.`;
    throw new AppError('bad-input', message);
  }
  const passed = Object.entries(inherited).filter(([name]) => OF_NODE.test(name) && VARIABLE.test(name));
  const variables = {
    ...Object.fromEntries(passed),
    ...(packages && locationVariables(packages)),
    ...ownVariables,
  };
  const call = { ...surroundings, binds, inside: variables };
  return container.runtime === 'apptainer' ? inApptainer(program, call) : inPyxis(program, call);
}

/**
 * The call that fetches an image into the job's folder; undefined if there is nothing to fetch, or the runtime does it itself.
 *
 * @throws AppError `missing` if the node has no runtime.
 */
export function imageFetch(container: JobContainer, folder: JobFolder, searchPath: string): Step | undefined {
  if (container.runtime !== 'apptainer' || !isFetched(container)) return undefined;
  const { image } = container;
  return {
    doing: 'the image of the container was fetched',
    file: runtimeProgram('apptainer', searchPath),
    args: ['pull', folder.image, image],
    cwd: folder.workspace,
    failure: `The job could not start: its image ${image} could not be fetched on ${thisNode()}. The end of the job's log has the cause.`,
    isFree: true,
  };
}

/** @property inside the variables in the container. */
type Prepared = ContainerSurroundings & { readonly inside: Readonly<Record<string, string>> };

function inApptainer({ file, args, cwd }: ContainedProgram, prepared: Prepared): Call {
  const { container, folder, variables, packages, binds, inside } = prepared;
  const { inherited, own } = variables;
  // Apptainer passes on the variables with this prefix, without it.
  const first = packages === undefined ? {} : { PREPEND_PATH: programsOf(packages) };
  const prefixed = Object.entries({ ...inside, ...first }).map(
    ([name, value]) => [`APPTAINERENV_${name}`, value] as const,
  );
  return {
    file: runtimeProgram('apptainer', inherited['PATH'] ?? ''),
    args: [
      'exec',
      '--containall',
      // Otherwise a shell in the container would expand the values of variables.
      '--no-eval',
      '--home',
      folder.home,
      '--workdir',
      folder.temporary,
      '--pwd',
      cwd,
      ...binds.flatMap(({ path, isWritable }) => ['--bind', `${path}:${path}:${isWritable ? 'rw' : 'ro'}`]),
      ...(container.hasGpus ? ['--nv'] : []),
      isFetched(container) ? folder.image : container.image,
      file,
      ...args,
    ],
    cwd,
    env: { ...inherited, ...Object.fromEntries(prefixed), [JOB_ID_VARIABLE]: own[JOB_ID_VARIABLE] ?? '' },
  };
}

function inPyxis({ file, args, cwd }: ContainedProgram, { container, variables, binds, inside }: Prepared): Call {
  const { inherited } = variables;
  const safe = Object.fromEntries(Object.entries(inside).filter(([name]) => !OBEYED_BY_SRUN.test(name)));
  const names = Object.keys(safe).join(',');
  const cpus = inherited['SLURM_CPUS_PER_TASK'];
  return {
    file: runtimeProgram('srun', inherited['PATH'] ?? ''),
    args: [
      '--nodes=1',
      '--ntasks=1',
      ...(cpus === undefined ? [] : [`--cpus-per-task=${cpus}`]),
      '--unbuffered',
      // Names only: srun takes the values from its own environment. The search path is that of the image, if it has one.
      `--export=PATH,${names}`,
      `--container-image=${container.image}`,
      `--container-mounts=${binds.map(({ path, isWritable }) => `${path}:${path}${isWritable ? '' : ':ro'}`).join(',')}`,
      `--container-workdir=${cwd}`,
      '--no-container-mount-home',
      `--container-env=${names}`,
      file,
      ...args,
    ],
    cwd,
    env: { ...inherited, ...safe },
  };
}

function runtimeProgram(name: string, searchPath: string): string {
  const found = findProgram(name, searchPath);
  if (found === undefined) throw cannotStart(`${name}, which starts its container, is not installed`);
  return found;
}

function cannotStart(why: string): AppError {
  const message = `The job could not start: on ${thisNode()} ${why}. Choose another image or machine class, or ask the operator of the service.`;
  return new AppError('missing', message);
}

/** The name of the machine that runs the job, as its cluster knows it. */
export function thisNode(): string {
  return process.env['SLURMD_NODENAME'] ?? hostname();
}
