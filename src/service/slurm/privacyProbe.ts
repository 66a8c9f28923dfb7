import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shellWord } from '../../core/text/shellWord.ts';
import { type ProbedPlace, runProbe } from './probeJob.ts';
import type { ClusterUser } from './clusterUsers.ts';

const NONCE_BYTES = 32;

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
 * @throws as `runProbe`.
 */
export async function canJobsRead(
  { data, filesFolder, user }: Probe,
  place: ProbedPlace,
  signal: AbortSignal,
): Promise<boolean> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const secret = join(data, `.probe-${nonce.slice(0, 16)}`);
  try {
    await writeFile(secret, nonce, { mode: 0o600 });
    const lines = [`cat ${shellWord(secret)} >&3 2>/dev/null`];
    return (await runProbe({ lines, filesFolder, user, place }, signal)).trim() === nonce;
  } finally {
    await rm(secret, { force: true });
  }
}
