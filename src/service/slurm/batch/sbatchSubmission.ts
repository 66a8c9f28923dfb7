import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/text/shellWord.ts';
import type { ClusterOptions } from '../../../remote/protocol/termValues.ts';
import type { RunnableJob } from '../../executor/executor.ts';
import { isFetched, type JobContainer, leaveContainer } from '../../jobFiles/container.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import { parseRunnerSpec } from '../../jobFiles/runnerSpec.ts';
import { splitWords } from '../../../core/text/splitWords.ts';
import { setupLimitSeconds, STEP_LIMIT_MS } from '../../runner/environment/environmentBuild.ts';
import { optionArguments, refusalOfOptions } from './jobOptions.ts';
import { loadModules } from './moduleShell.ts';
import type { SlurmAccount, SlurmMachineClass } from './slurmConfig.ts';

// The runner enforces the time limit to the second. Slurm's limit, in whole minutes, only stops what the runner could not.
const SPARE_MINUTES = 2;
const COMMENT_SIGNS = /[^\w./-]/g;
const MOST_OF_COMMENT = 64;

/** The settings of a class and an account for a job on the cluster. */
interface Treatment {
  readonly machineClass: SlurmMachineClass;
  /** Undefined if the configuration has nothing about the account. */
  readonly account: SlurmAccount | undefined;
}

/** What starts a runner on a node. The paths must be the same there as here. */
export interface RunnerProgram {
  readonly node: string;
  readonly runner: string;
  /** Whether it starts with the node's login environment, rather than with the service's own without its secrets. */
  readonly hasLoginEnvironment: boolean;
}

/** Writes the script for `sbatch` to the job's folder, and returns the arguments for submitting it. */
export async function prepareSubmission(
  job: RunnableJob,
  folder: JobFolder,
  { machineClass, account = {} }: Treatment,
  program: RunnerProgram,
): Promise<readonly string[]> {
  const script = submissionScript(folder);
  // The job has not started, so only the service can have written this file.
  const { venv, cluster, debug } = parseRunnerSpec(await readFile(folder.spec, 'utf8'));
  // The configuration may have changed since the job was accepted.
  const refusal = cluster && refusalOfOptions(cluster, machineClass, account);
  if (refusal !== undefined) throw new AppError('refused', `The job cannot be submitted to the cluster: ${refusal}`);
  const command = [program.node, program.runner, folder.path].map(shellWord).join(' ');
  const modules = [...new Set([...machineClass.modules, ...(cluster?.modules ?? [])])];
  writeFileSync(script, batchScript(command, modules, folder), { mode: 0o700 });
  const container = containerOf(machineClass, cluster);
  leaveContainer(folder, container);
  const fetchSeconds = container !== undefined && isFetched(container) ? STEP_LIMIT_MS / 1000 : 0;
  const setupSeconds = (venv === null ? 0 : setupLimitSeconds(venv)) + fetchSeconds;
  const seconds = job.maxRuntime + setupSeconds + (debug?.hold ?? 0);
  const minutes = Math.ceil(seconds / 60) + SPARE_MINUTES;
  return [
    '--parsable',
    '--no-requeue',
    `--export=${program.hasLoginEnvironment ? 'NONE' : 'ALL'}`,
    `--job-name=${job.id}`,
    `--comment=${commentOn(job)}`,
    `--chdir=${folder.path}`,
    `--output=${clusterLog(folder).replaceAll('%', '%%')}`,
    `--time=${minutes}`,
    ...resourceArguments(machineClass),
    ...optionArguments(account, cluster),
    script,
  ];
}

/** The container of a job; undefined if its class has none, or the job chooses none. */
export function containerOf(
  { container, gpus }: SlurmMachineClass,
  { container: chosen }: ClusterOptions = {},
): JobContainer | undefined {
  const image = container?.image ?? chosen;
  return container && image !== undefined ? { runtime: container.runtime, image, hasGpus: gpus > 0 } : undefined;
}

/**
 * What the cluster's own tools show about a job, such as `squeue -o %k` and `sacct -o Comment`. A person has chosen the project and the
 * script, so only letters, digits and some signs remain of them. The script's arguments are left out, because everyone on the cluster
 * can read the comment.
 */
function commentOn({ id, account, project, script: command }: RunnableJob): string {
  const [script = ''] = splitWords(command) ?? [];
  const facts = Object.entries({ account, project, script }).map(([name, value]) =>
    value === null ? '' : ` ${name}=${value.slice(0, MOST_OF_COMMENT).replaceAll(COMMENT_SIGNS, '_')}`,
  );
  return `farwharf:${id}${facts.join('')}`;
}

type Resources = Pick<SlurmMachineClass, 'partition' | 'cpus' | 'memory_gb' | 'gpus' | 'sbatch'>;

/** The arguments for `sbatch` that request the resources of a job. */
export function resourceArguments(machineClass: Resources): readonly string[] {
  const { partition, cpus, memory_gb: memoryGb, gpus, sbatch } = machineClass;
  return [
    '--nodes=1',
    '--ntasks=1',
    `--cpus-per-task=${cpus}`,
    `--mem=${Math.ceil(memoryGb * 1024)}M`,
    ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ...(gpus === 0 ? [] : [`--gres=gpu:${gpus}`]),
    ...sbatch,
  ];
}

/**
 * Runs a runner and, if that is killed, stops what it left running, which a cluster without cgroups would not. The runner handles the
 * signals that end a job, and sbatch's setting for the environment must not reach an srun inside the job.
 *
 * A controller that was killed before it had stored the end of a job runs it again, when the service has deleted all but its results.
 */
function batchScript(runner: string, modules: readonly string[], folder: JobFolder): string {
  const [path, spec, log] = [folder.path, folder.spec, clusterLog(folder)].map(shellWord);
  return [
    '#!/bin/bash',
    `if [ -d ${path} ] && [ ! -e ${spec} ]; then rm -f ${log}; exit; fi`,
    'unset SLURM_EXPORT_ENV',
    'trap : TERM INT HUP',
    ...loadModules(modules, folder.moduleLog),
    `${runner} "$@" && exit`,
    `${runner} --clean-up`,
    'exit 1\n',
  ].join('\n');
}

/** The script for `sbatch`. It exists before the job is submitted, so without it the cluster does not know the job. */
export function submissionScript(folder: JobFolder): string {
  return join(folder.path, 'slurm.sh');
}

/** What Slurm itself, and a failing runner, write about a job. */
export function clusterLog(folder: JobFolder): string {
  return join(folder.path, 'slurm.log');
}
