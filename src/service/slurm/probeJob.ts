import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import { findClusterJob, type JobName, QUERY } from './clusterQueue.ts';
import { type ClusterUser, shareFolder } from './clusterUsers.ts';
import { phaseOf } from './queueState.ts';
import { slurm } from './slurmCommand.ts';
import type { SlurmMachineClass } from './batch/slurmConfig.ts';
import { resourceArguments } from './batch/sbatchSubmission.ts';

const POLL_MS = 200;
// The controller is asked this rarely, because it answers for everyone.
const LOOK_MS = 5_000;
// What a node writes can be seen on this machine some seconds after its job has left the queue.
const LOOKS_WITHOUT_ANSWER = 3;
const MEMORY_GB = 1 / 32;

/** The settings that decide on which nodes a job can run. */
export type ProbedPlace = Pick<SlurmMachineClass, 'partition' | 'sbatch'>;

/** A small job that finds something out about a node. */
export interface ProbeJob {
  /** Of bash. They write the result to file descriptor 3. */
  readonly lines: readonly string[];
  /** The folder with the files of jobs, where the probe reports. */
  readonly filesFolder: string;
  readonly user: ClusterUser;
  readonly place: ProbedPlace;
  /** Whether it starts with the login environment of its node, as in `RunnerProgram`. */
  readonly hasLoginEnvironment?: boolean;
}

/**
 * Submits a probe to a node that the cluster chooses.
 *
 * @returns what it wrote.
 * @throws AppError `missing` if the probe ended without a result or the cluster lost it, those of `slurm`, or the signal's reason on
 *   abort. The job is cancelled then.
 */
export async function runProbe(
  { lines, filesFolder, user, place, hasLoginEnvironment = false }: ProbeJob,
  signal: AbortSignal,
): Promise<string> {
  const name = `farwharf-probe-${randomBytes(8).toString('hex')}`;
  await mkdir(join(filesFolder, 'probes'), { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(filesFolder, 'probes', 'probe-'));
  try {
    const script = join(folder, 'probe.sh');
    const answer = join(folder, 'answer');
    await writeFile(script, probeScript(lines, answer), { mode: 0o700 });
    if (user.isPerson) await shareFolder(folder, user);
    const args = [
      '--parsable',
      '--no-requeue',
      `--export=${hasLoginEnvironment ? 'NONE' : 'ALL'}`,
      `--job-name=${name}`,
      `--chdir=${folder}`,
      '--output=/dev/null',
      '--time=1',
      ...resourceArguments({ ...place, cpus: 1, memory_gb: MEMORY_GB, gpus: 0 }),
      script,
    ];
    await slurm('sbatch', args, { signal, user });
    return await untilAnswered(answer, { name, user: user.id }, signal);
  } catch (error) {
    await slurm('scancel', [`--name=${name}`], { user }).catch(() => {});
    throw error;
  } finally {
    await removeTree(folder);
  }
}

function probeScript(lines: readonly string[], answer: string): string {
  const partial = shellWord(`${answer}.part`);
  return ['#!/bin/bash', `exec 3>${partial}`, ...lines, `mv ${partial} ${shellWord(answer)}\n`].join('\n');
}

async function untilAnswered(answer: string, name: JobName, signal: AbortSignal): Promise<string> {
  const read = (): Promise<string | undefined> => readFile(answer, 'utf8').catch(() => undefined);
  let nextLook = performance.now() + LOOK_MS;
  let misses = 0;
  for (;;) {
    const text = await read();
    if (text !== undefined) return text;
    if (misses === LOOKS_WITHOUT_ANSWER) {
      throw new AppError('missing', 'The probe of the cluster has ended without a result, or the cluster has lost it.');
    }
    if (performance.now() >= nextLook) {
      misses = (await isInQueue(name, signal)) ? 0 : misses + 1;
      nextLook = performance.now() + LOOK_MS;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Also true while the cluster does not respond. */
async function isInQueue(name: JobName, signal: AbortSignal): Promise<boolean> {
  try {
    const args = [...QUERY, `--name=${name.name}`, `--user=${name.user}`];
    const job = findClusterJob(await slurm('squeue', args, { signal }), name);
    return job !== undefined && phaseOf(job) !== 'ended';
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) return true;
    throw error;
  }
}
