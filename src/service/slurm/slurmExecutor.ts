import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { printableText } from '../../core/text/printable.ts';
import type { ClusterContact, Executor, RunnableJob, RunnerStatus } from '../executor/executor.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { leaveSecrets, type SecretValues } from '../jobFiles/runnerInput.ts';
import { ClusterQueue, parseQueue, QUERY, type SeenJob } from './clusterQueue.ts';
import { type ClusterJob, endingOfClusterJob, neverStarts, phaseOf, waitingReason, wasDropped } from './queueState.ts';
import { slurm } from './slurmCommand.ts';
import type { PrivacyCheck } from './privacyCheck.ts';
import type { SlurmAccount, SlurmMachineClass } from './slurmConfig.ts';
import { clusterLog, prepareSubmission, type RunnerProgram, submissionScript } from './submission.ts';

// Each sbatch is a process that calls the controller, where more at once would only wait.
const SUBMITS_AT_ONCE = 4;
// On a shared file system a runner's report can appear late, and so can a new job in the queue.
const SURE_ANSWERS = 3;
const MAX_LAUNCHES = 10;
const MAX_PAUSE_MS = 60_000;
const MAX_WORDS = 500;
const ACCOUNTED_DAYS = 60;
// Accounting lags behind the queue, and after a crash of the controller it can have jobs that run forever.
const MAX_ANSWERS_WITHOUT = 30;
const LOST_TOO_OFTEN =
  'The cluster accepted the job ten times and lost it before it started. Ask its administrators, then submit again.';

export interface SlurmOptions {
  readonly program: RunnerProgram;
  readonly classes: readonly SlurmMachineClass[];
  readonly accounts: ReadonlyMap<string, SlurmAccount>;
  readonly capacity: number;
  readonly pollMs: number;
  readonly privacy: Pick<PrivacyCheck, 'beforeLaunch' | 'stop'>;
  readonly log: Logger;
}

/**
 * Runs jobs on a Slurm cluster through its command line. A job's folder is on a file system that the nodes share, and `sbatch` starts
 * the same runner there as elsewhere.
 *
 * A job is identified by its name, which is our ID, because a controller that lost its state reuses Slurm's numbers. A runner claims
 * the folder before it does anything, which succeeds only once. So a job that was submitted twice runs once, and can be
 * submitted again whenever the outcome of a submission is not known.
 */
export class SlurmExecutor implements Executor {
  readonly #options: SlurmOptions;
  readonly #queue: ClusterQueue;
  readonly #submits = pLimit(SUBMITS_AT_ONCE);
  readonly #launches = new Map<string, number>();
  /** For jobs that are not listed: the queue's number of responses when that was first noticed. */
  readonly #unlistedSince = new Map<string, number>();
  readonly capacity: number;
  // The shared file system does not report here what nodes write.
  readonly isLocal = false;
  readonly cluster: ClusterContact;

  constructor(options: SlurmOptions) {
    this.#options = options;
    this.capacity = options.capacity;
    this.#queue = new ClusterQueue({ log: options.log, intervalMs: options.pollMs });
    this.cluster = this.#queue;
  }

  // No job is isolated on a cluster, and the log says so at startup.
  refusal(): undefined {
    return undefined;
  }

  async launch(job: RunnableJob, folder: JobFolder, signal: AbortSignal, secrets: SecretValues): Promise<void> {
    if (existsSync(folder.claim)) return;
    const machineClass = this.#options.classes.find(({ name }) => name === job.machineClass);
    if (machineClass !== undefined) await this.#options.privacy.beforeLaunch(machineClass);
    const launches = (this.#launches.get(job.id) ?? 0) + 1;
    if (launches > MAX_LAUNCHES) throw new AppError('refused', LOST_TOO_OFTEN);
    // The cause of the loss, such as a controller that reuses numbers which nodes still use, may take a while to pass.
    if (launches > 1) {
      await sleep(Math.min(MAX_PAUSE_MS, this.#options.pollMs * 2 ** launches), undefined, { signal });
    }
    await this.#submits(async () => {
      // The job may have been cancelled while it waited for its turn.
      if (existsSync(folder.claim) || (await isListed(job.id, folder, signal))) return;
      if (machineClass === undefined) {
        const message = `The machine class ${job.machineClass} is no longer in the service's configuration. Submit again with another.`;
        throw new AppError('missing', message);
      }
      leaveSecrets(folder, secrets);
      const treatment = { machineClass, account: this.#options.accounts.get(job.account) };
      await slurm('sbatch', await prepareSubmission(job, folder, treatment, this.#options.program), signal);
      this.#launches.set(job.id, launches);
    });
    this.#unlistedSince.set(job.id, this.#queue.answers);
    if (existsSync(folder.cancel)) await this.cancel(job.id);
  }

  async status(jobId: string, folder: JobFolder): Promise<RunnerStatus> {
    const job = this.#queue.get(jobId);
    const hasStarted = existsSync(folder.claim);
    const { failingSince } = this.#queue;
    if (failingSince !== undefined) {
      const reason = `The cluster has not answered since ${failingSince.toISOString()}.`;
      return hasStarted ? { state: 'running' } : { state: 'waiting', reason };
    }
    if (job === undefined) return this.#statusOfUnlisted(jobId, hasStarted);
    this.#unlistedSince.delete(jobId);
    if (phaseOf(job) === 'ended') return this.#statusOfEnded(job, folder, hasStarted);
    if (hasStarted) return { state: 'running' };
    const never = job.timesSeen < SURE_ANSWERS ? undefined : neverStarts(job);
    if (never !== undefined)
      return { state: 'gone', ending: { state: 'failed', reason: never, isCharged: false, isCause: true } };
    return { state: 'waiting', reason: waitingReason(job) };
  }

  externalId(jobId: string): string | undefined {
    return this.#queue.get(jobId)?.number.toString();
  }

  // A secret would reach a node through files and commands that all jobs of the cluster can read, as they have the same user.
  reportSecret(): undefined {
    return undefined;
  }

  async cancel(jobId: string): Promise<void> {
    await slurm('scancel', [`--name=${jobId}`]);
  }

  async cleanUp(jobId: string): Promise<void> {
    await this.cancel(jobId);
  }

  forget(jobId: string): void {
    this.#launches.delete(jobId);
    this.#unlistedSince.delete(jobId);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#options.privacy.stop()]);
  }

  /** The cluster forgets a job some minutes after its end, or if its controller loses state. */
  async #statusOfUnlisted(jobId: string, hasStarted: boolean): Promise<RunnerStatus> {
    const since = this.#unlistedSince.get(jobId) ?? this.#queue.answers;
    this.#unlistedSince.set(jobId, since);
    const answers = this.#queue.answers - since;
    if (!hasStarted) return answers >= SURE_ANSWERS ? { state: 'absent' } : { state: 'waiting' };
    if (answers < SURE_ANSWERS) return { state: 'running' };
    const job = await accountOf(jobId);
    if (job !== undefined && phaseOf(job) === 'ended') {
      return { state: 'gone', ending: endingOfClusterJob(job, { hasStarted, words: '' }, process.getuid?.()) };
    }
    return job !== undefined && answers < MAX_ANSWERS_WITHOUT ? { state: 'running' } : { state: 'gone' };
  }

  async #statusOfEnded(job: SeenJob, folder: JobFolder, hasStarted: boolean): Promise<RunnerStatus> {
    if (job.timesSeen < SURE_ANSWERS) return { state: 'running' };
    const traces = { hasStarted, words: await lastWords(folder) };
    if (wasDropped(job, traces)) return { state: 'absent' };
    // Only the accounting knows who cancelled a job.
    const account = job.state === 'CANCELLED' ? await accountOf(job.name) : undefined;
    const isBehind = account !== undefined && phaseOf(account) !== 'ended';
    if (isBehind && job.timesSeen < MAX_ANSWERS_WITHOUT) return { state: 'running' };
    const known = { ...job, cancelledBy: account?.cancelledBy };
    return { state: 'gone', ending: endingOfClusterJob(known, traces, process.getuid?.()) };
  }
}

async function isListed(jobId: string, folder: JobFolder, signal: AbortSignal): Promise<boolean> {
  if (!existsSync(submissionScript(folder))) return false;
  const job = parseQueue(await slurm('squeue', [...QUERY, `--name=${jobId}`], signal)).get(jobId);
  return job !== undefined && !wasDropped(job, { hasStarted: false, words: await lastWords(folder) });
}

/** The job according to the cluster's accounting, after the queue has forgotten it; undefined without accounting. */
async function accountOf(jobId: string): Promise<ClusterJob | undefined> {
  const format = 'JobIDRaw,State,Reason,NodeList,JobName';
  const since = `--starttime=now-${ACCOUNTED_DAYS}days`;
  try {
    const answer = await slurm('sacct', ['-n', '-X', '-P', since, `--name=${jobId}`, '-o', format]);
    const job = parseQueue(answer).get(jobId);
    if (job === undefined) return undefined;
    const [state = '', , user] = job.state.split(' '); // "CANCELLED by 1000"
    return { ...job, state, ...(user !== undefined && { cancelledBy: Number(user) }) };
  } catch {
    return undefined; // most small clusters have no accounting
  }
}

async function lastWords(folder: JobFolder): Promise<string> {
  const text = (await readJobText(clusterLog(folder), MAX_WORDS).catch(() => '')) ?? '';
  const lines = printableText(text).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ');
}
