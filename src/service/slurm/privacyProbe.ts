import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shellWord } from '../../core/text/shellWord.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import { type ClusterUser, shareFolder } from './clusterUsers.ts';
import { slurm } from './slurmCommand.ts';
import type { SlurmMachineClass } from './slurmConfig.ts';
import { resourceArguments } from './submission.ts';

type Place = Pick<SlurmMachineClass, 'partition' | 'sbatch'>;

const NONCE_BYTES = 32;
const POLL_MS = 200;
const MEMORY_GB = 1 / 32;

/** What a probe tries, and as whom. */
export interface Probe {
  /** The data folder, which no job may read. */
  readonly data: string;
  /** The folder with the files of jobs, where the probe reports. */
  readonly filesFolder: string;
  /** One of the users of jobs: the folder's permissions are the same for all of them. */
  readonly user: ClusterUser;
}

/**
 * Submits a job that tries to read the data folder, on a node that the cluster chooses.
 *
 * @returns whether it could.
 * @throws AppError of `slurm`, or the signal's reason on abort; the job is cancelled then.
 */
export async function canJobsRead(
  { data, filesFolder, user }: Probe,
  place: Place,
  signal: AbortSignal,
): Promise<boolean> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  await mkdir(join(filesFolder, 'probes'), { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(filesFolder, 'probes', 'probe-'));
  const secret = join(data, `.probe-${nonce.slice(0, 16)}`);
  const name = `farwharf-probe-${nonce.slice(0, 16)}`;
  try {
    await writeFile(secret, nonce, { mode: 0o600 });
    const script = join(folder, 'probe.sh');
    const answer = join(folder, 'answer');
    await writeFile(script, probeScript(secret, answer), { mode: 0o700 });
    if (user.isPerson) await shareFolder(folder, user);
    await slurm('sbatch', [...probeArguments(name, folder, place), script], { signal, user });
    return (await untilAnswered(answer, signal)).trim() === nonce;
  } catch (error) {
    await slurm('scancel', [`--name=${name}`], { user }).catch(() => {});
    throw error;
  } finally {
    await rm(secret, { force: true });
    await removeTree(folder);
  }
}

function probeArguments(name: string, folder: string, place: Place): readonly string[] {
  return [
    '--parsable',
    '--no-requeue',
    '--export=ALL',
    `--job-name=${name}`,
    `--chdir=${folder}`,
    '--output=/dev/null',
    '--time=1',
    ...resourceArguments({ ...place, cpus: 1, memory_gb: MEMORY_GB, gpus: 0 }),
  ];
}

function probeScript(secret: string, answer: string): string {
  const partial = shellWord(`${answer}.part`);
  return `#!/bin/sh\ncat ${shellWord(secret)} > ${partial} 2>/dev/null\nmv ${partial} ${shellWord(answer)}\n`;
}

async function untilAnswered(answer: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    const text = await readFile(answer, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
    await sleep(POLL_MS, undefined, { signal });
  }
}
