import { createHash, randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { SlurmMachineClass } from './batch/slurmConfig.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { type ProbedPlace, runProbe } from './probeJob.ts';
import type { ClusterUser } from './clusterUsers.ts';

const RETRY_MS = 5_000;
// The start of the service waits this long for a cluster that is busy or down.
const START_WAIT_MS = 20_000;
// After this time, a waiting job says why it waits.
const LAUNCH_WAIT_MS = 2_000;
const NONCE_BYTES = 32;

export interface PrivacyOptions extends Probe {
  readonly classes: readonly SlurmMachineClass[];
  /** Whether jobs must not read the data folder, which can change while the service runs. */
  readonly isNeeded: () => boolean;
  readonly log: Logger;
}

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
 * Prevents jobs from starting until a probe in their partition has shown that jobs cannot read the data folder. The result is stored
 * for as long as folders, machine, user and partition stay the same.
 */
export class PrivacyCheck {
  readonly #options: PrivacyOptions;
  readonly #stop = new AbortController();
  readonly #checks = new Map<string, Promise<void>>();
  /** The same by machine class, so that launches need not compute the identity. */
  readonly #checkOf = new Map<SlurmMachineClass, Promise<void>>();

  constructor(options: PrivacyOptions) {
    this.#options = options;
  }

  /**
   * Starts the probes, and waits for them up to 20 s.
   *
   * @throws AppError `refused` if a probe could read the data folder.
   */
  async start(): Promise<void> {
    if (!this.#options.isNeeded()) return;
    await within(START_WAIT_MS, Promise.all(this.#options.classes.map((each) => this.#passed(each))));
  }

  /** @throws AppError `unreachable` while a job of this machine class must not start. */
  async beforeLaunch(machineClass: SlurmMachineClass): Promise<void> {
    if (!this.#options.isNeeded()) return;
    const passed = within(LAUNCH_WAIT_MS, this.#passed(machineClass));
    const isPassed = await passed.catch((error: unknown) => {
      throw new AppError('unreachable', messageOf(error));
    });
    if (isPassed) return;
    const why = 'The service is waiting for proof that jobs on the cluster cannot read its data folder.';
    throw new AppError('unreachable', why);
  }

  /** Cancels probes in progress. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#checks.values());
  }

  #passed(machineClass: SlurmMachineClass): Promise<void> {
    const known = this.#checkOf.get(machineClass);
    if (known !== undefined) return known;
    const identity = identityOf(machineClass, this.#options);
    const check = this.#checks.get(identity) ?? this.#check(machineClass, identity);
    check.catch(() => {}); // the callers that wait for it get the error
    this.#checks.set(identity, check);
    this.#checkOf.set(machineClass, check);
    return check;
  }

  async #check(machineClass: SlurmMachineClass, identity: string): Promise<void> {
    const { data, log } = this.#options;
    const proof = join(data, 'proofs', identity);
    if (existsSync(proof)) return;
    let isReadable = await this.#probe(machineClass);
    while (isReadable === undefined) {
      await sleep(RETRY_MS, undefined, { signal: this.#stop.signal });
      isReadable = await this.#probe(machineClass);
    }
    if (isReadable === 'never-runs') return;
    if (isReadable) {
      const error = dataIsReadable(data, machineClass);
      log.error('jobs can read the data folder', { data, partition: machineClass.partition });
      throw error;
    }
    await mkdir(join(data, 'proofs'), { recursive: true, mode: 0o700 });
    await writeFile(proof, '', { mode: 0o600 });
    log.info('jobs cannot read the data folder', { data, partition: machineClass.partition });
  }

  /** Whether jobs can read the data folder; undefined if the probe failed. A partition that refuses the probe refuses jobs too. */
  async #probe(machineClass: SlurmMachineClass): Promise<boolean | 'never-runs' | undefined> {
    const { signal } = this.#stop;
    try {
      return await canJobsRead(this.#options, machineClass, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError && error.code === 'refused') return 'never-runs';
      this.#options.log.warn('the check of the data folder failed and is retried', { error: messageOf(error) });
      return undefined;
    }
  }
}

/** Whether `work` has finished within a time. @throws what it throws by then. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController();
  const wait = sleep(milliseconds, false, { ref: false, signal: settled.signal }).catch(() => false);
  return Promise.race([work.then(() => true), wait]).finally(() => settled.abort());
}

/** The error if jobs can read the data folder. */
export function dataIsReadable(data: string, { partition }: Pick<SlurmMachineClass, 'partition'>): AppError {
  const where = partition === undefined ? 'on the cluster' : `in the partition ${partition}`;
  const message = `Jobs ${where} can read the data folder ${data}, and with it could create keys and grant credits. Choose a folder on a disk of this machine that no node sees (--data), and do not let this machine run jobs.`;
  return new AppError('refused', message);
}

function identityOf({ partition, sbatch }: SlurmMachineClass, { data, filesFolder, user }: Probe): string {
  const parts = [realpathSync(data), filesFolder, hostname(), user.id, partition ?? null, sbatch];
  return createHash('sha256')
    .update(JSON.stringify([...parts, process.env['SLURM_CONF'] ?? null]))
    .digest('hex');
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
