import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { canJobsRead, type ProbedFolders } from './privacyProbe.ts';
import type { SlurmMachineClass } from './slurmConfig.ts';

const RETRY_MS = 5_000;
// A probe that waits for as long is submitted again: the cluster may have lost it.
const PROBE_TIMEOUT_MS = 10 * 60_000;
// A start does not wait for longer for a cluster that is busy or down.
const START_WAIT_MS = 20_000;
// A job that waits for longer says why.
const LAUNCH_WAIT_MS = 2_000;

export interface PrivacyOptions extends ProbedFolders {
  readonly classes: readonly SlurmMachineClass[];
  readonly log: Logger;
}

/**
 * Lets no job start before a probe in its partition has shown that jobs cannot read the data folder. What was shown is remembered
 * for as long as folders, machine, user and partition stay the same.
 */
export class PrivacyCheck {
  readonly #options: PrivacyOptions;
  readonly #stop = new AbortController();
  readonly #checks = new Map<string, Promise<void>>();
  /** The same by machine class, for launches. */
  readonly #checkOf = new Map<SlurmMachineClass, Promise<void>>();

  constructor(options: PrivacyOptions) {
    this.#options = options;
  }

  /**
   * Begins the probes, and waits for them unless that takes long.
   *
   * @throws AppError `refused` when a probe could read the data folder.
   */
  async start(): Promise<void> {
    const all = Promise.all(this.#options.classes.map((each) => this.#passed(each)));
    const settled = new AbortController();
    const wait = sleep(START_WAIT_MS, undefined, { ref: false, signal: settled.signal }).catch(() => {});
    await Promise.race([all, wait]).finally(() => settled.abort());
  }

  /** @throws AppError `unreachable` while a job of this machine class must not start. */
  async beforeLaunch(machineClass: SlurmMachineClass): Promise<void> {
    let why = 'The service waits for the cluster to show that jobs cannot read its data folder.';
    const passed = this.#passed(machineClass).then(
      () => true,
      (error: unknown) => {
        why = messageOf(error);
        return false;
      },
    );
    const settled = new AbortController();
    const wait = sleep(LAUNCH_WAIT_MS, false, { ref: false, signal: settled.signal }).catch(() => false);
    const isPassed = await Promise.race([passed, wait]).finally(() => settled.abort());
    if (!isPassed) throw new AppError('unreachable', why);
  }

  /** Ends the probes that are under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#checks.values());
  }

  #passed(machineClass: SlurmMachineClass): Promise<void> {
    const known = this.#checkOf.get(machineClass);
    if (known !== undefined) return known;
    const identity = identityOf(machineClass, this.#options);
    const check = this.#checks.get(identity) ?? this.#check(machineClass, identity);
    check.catch(() => {}); // whoever waits gets it
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

  /** Undefined when that could not be found out. A partition that refuses the probe refuses jobs too. */
  async #probe(machineClass: SlurmMachineClass): Promise<boolean | 'never-runs' | undefined> {
    const { signal } = this.#stop;
    const both = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    try {
      return await canJobsRead(this.#options, machineClass, both);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError && error.code === 'refused') return 'never-runs';
      this.#options.log.warn('the check of the data folder is tried again', { error: messageOf(error) });
      return undefined;
    }
  }
}

/** What is wrong when jobs can read the data folder. */
export function dataIsReadable(data: string, { partition }: Pick<SlurmMachineClass, 'partition'>): AppError {
  const where = partition === undefined ? 'on the cluster' : `in the partition ${partition}`;
  const message = `Jobs ${where} can read the data folder ${data}, and with it could make keys and grant credits. Name a folder on a disk of this machine that no node sees (--data), and do not let this machine run jobs.`;
  return new AppError('refused', message);
}

function identityOf({ partition, sbatch }: SlurmMachineClass, { data, filesFolder }: ProbedFolders): string {
  const parts = [realpathSync(data), filesFolder, hostname(), process.getuid?.(), partition ?? null, sbatch];
  return createHash('sha256')
    .update(JSON.stringify([...parts, process.env['SLURM_CONF'] ?? null]))
    .digest('hex');
}
