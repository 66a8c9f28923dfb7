import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import type { ClusterOptions } from '../../remote/protocol/termValues.ts';
import type {
  ClusterContact,
  Executor,
  OwnedJob,
  RunnableJob,
  RunnerEnding,
  RunnerStatus,
} from '../executor/executor.ts';
import { PACKAGE_TOOLS, type PackageTool } from '../../workspace/environments/packageList.ts';
import type { ScriptKindName } from '../../workspace/scripts/scriptKinds.ts';
import { type JobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import { leaveSecrets, type SecretValues } from '../jobFiles/runnerInput.ts';
import {
  accountOf,
  ClusterQueue,
  allocationEnd,
  findClusterJob,
  type JobName,
  lastWords,
  QUERY,
  type SeenJob,
  wasRequeued,
} from './clusterQueue.ts';
import { openStep } from './clusterStep.ts';
import { type ClusterUser, type ClusterUsers, shareFolder } from './clusterUsers.ts';
import {
  type ClusterJob,
  endingOfClusterJob,
  neverStarts,
  phaseOf,
  type RunnerTraces,
  waitingReason,
  wasDropped,
} from './queueState.ts';
import { refusedAs, slurm } from './slurmCommand.ts';
import { refusalOfOptions } from './batch/jobOptions.ts';
import type { PrivacyCheck } from './privacyCheck.ts';
import type { SlurmAccount, SlurmMachineClass } from './batch/slurmConfig.ts';
import { containerOf, prepareSubmission, type RunnerProgram, submissionScript } from './batch/sbatchSubmission.ts';

// Each sbatch is a process that calls the controller, where more at once would only wait.
const SUBMITS_AT_ONCE = 4;
// On a shared file system a runner's report can appear late, and so can a new job in the queue.
const SURE_ANSWERS = 3;
// Some heartbeats of a runner, as late as a shared file system shows them.
const SILENCE_MS = 30_000;
const MAX_LAUNCHES = 10;
const MAX_PAUSE_MS = 60_000;
// Accounting lags behind the queue, and after a crash of the controller it can have jobs that run forever.
const MAX_ANSWERS_WITHOUT = 30;
const NOT_LISTED = 'The cluster does not list the job now.';
// What a job has of its allocation to end by itself.
const ENDING_MS = 60_000;
const LOST_TOO_OFTEN =
  'The cluster accepted the job ten times and lost it before it started. Ask its administrators, then submit again.';

export interface SlurmOptions {
  readonly program: RunnerProgram;
  readonly classes: readonly SlurmMachineClass[];
  readonly accounts: ReadonlyMap<string, SlurmAccount>;
  readonly keepsEnvironments: Executor['keepsEnvironments'];
  /** What the site says; undefined if it says nothing. */
  readonly scriptKinds?: readonly ScriptKindName[] | undefined;
  readonly users: ClusterUsers;
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
  /** For jobs that wait in the queue although they have started. */
  readonly #backSince = new Map<string, Back>();
  /** Those of them that were seen so for so long that the cluster must have put them back. */
  readonly #wereBack = new Set<string>();
  readonly capacity: number;
  // The shared file system does not report here what nodes write.
  readonly isLocal = false;
  readonly cluster: ClusterContact;
  readonly keepsEnvironments: Executor['keepsEnvironments'];

  constructor(options: SlurmOptions) {
    this.#options = options;
    this.capacity = options.capacity;
    this.keepsEnvironments = options.keepsEnvironments;
    const users = options.users.all.map(({ id }) => id);
    this.#queue = new ClusterQueue({ log: options.log, intervalMs: options.pollMs, users });
    this.cluster = this.#queue;
  }

  // The cluster separates jobs or does not, and the log says so at startup.
  refusal(): undefined {
    return undefined;
  }

  scriptKinds(): readonly ScriptKindName[] | undefined {
    return this.#options.scriptKinds;
  }

  packageTools(): readonly PackageTool[] {
    return PACKAGE_TOOLS;
  }

  refusalOf(options: ClusterOptions, job: Pick<RunnableJob, 'account' | 'machineClass'>): string | undefined {
    const machineClass = this.#options.classes.find(({ name }) => name === job.machineClass);
    return machineClass && refusalOfOptions(options, machineClass, this.#options.accounts.get(job.account));
  }

  async launch(job: RunnableJob, folder: JobFolder, signal: AbortSignal, secrets: SecretValues): Promise<void> {
    if (existsSync(folder.claim)) return;
    const user = this.#options.users.of(job.account);
    if (user === undefined) throw new AppError('refused', userIsMissing(job.account));
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
      if (existsSync(folder.claim) || (await isListed(job, user, folder, signal))) return;
      if (machineClass === undefined) {
        const message = `The machine class ${job.machineClass} is no longer in the service's configuration. Submit again with another.`;
        throw new AppError('missing', message);
      }
      leaveSecrets(folder, secrets);
      const treatment = { machineClass, account: this.#options.accounts.get(job.account) };
      const args = await prepareSubmission(job, folder, treatment, this.#options.program);
      if (user.isPerson) await shareFolder(folder.path, user);
      await slurm('sbatch', args, { signal, user }).catch(refusedAs(machineClass.name));
      this.#launches.set(job.id, launches);
    });
    this.#unlistedSince.set(job.id, this.#queue.answers);
    if (existsSync(folder.cancel)) await this.cancel(job);
  }

  async status(owned: OwnedJob, folder: JobFolder): Promise<RunnerStatus> {
    const { id } = owned;
    const name = this.#nameOf(owned);
    // Its user is no longer known, so the service can't ask for it any more.
    if (name === undefined) return { state: 'gone', ending: failedAs(userIsMissing(owned.account)) };
    const job = await this.#jobOf(name, folder);
    const hasStarted = existsSync(folder.claim);
    const { failingSince } = this.#queue;
    if (failingSince !== undefined) {
      const reason = `The cluster has not answered since ${failingSince.toISOString()}.`;
      return hasStarted ? { state: 'running' } : { state: 'waiting', reason };
    }
    if (job === undefined) return this.#statusOfUnlisted(name, hasStarted);
    this.#unlistedSince.delete(id);
    const phase = phaseOf(job);
    if (phase === 'ended') return this.#statusOfEnded(job, name, folder, hasStarted);
    if (hasStarted && phase === 'waiting') return this.#statusOfReturned(owned, job, folder);
    this.#backSince.delete(id);
    if (hasStarted) return { state: 'running' };
    const never = job.timesSeen < SURE_ANSWERS ? undefined : neverStarts(job);
    if (never !== undefined) return { state: 'gone', ending: failedAs(never) };
    return { state: 'waiting', reason: waitingReason(job, job.expectation) };
  }

  externalId(job: OwnedJob): string | undefined {
    const name = this.#nameOf(job);
    return name && this.#queue.get(name)?.number.toString();
  }

  // A secret would reach a node through files and commands that all jobs of the cluster can read, as they have the same user.
  reportSecret(): undefined {
    return undefined;
  }

  async connect(job: OwnedJob, folder: JobFolder, signal: AbortSignal): Promise<Duplex> {
    const user = this.#options.users.of(job.account);
    if (user === undefined) throw new AppError('conflict', userIsMissing(job.account));
    const number = this.externalId(job);
    if (number === undefined) throw new AppError('unreachable', NOT_LISTED);
    return openStep({ number, folder, user, program: this.#options.program }, signal);
  }

  refusalOfDebug(options: ClusterOptions | undefined, name: string): string | undefined {
    const machineClass = this.#options.classes.find((each) => each.name === name);
    if (machineClass === undefined || containerOf(machineClass, options) === undefined) return undefined;
    return 'The job runs in a container, into which no debugger can be attached. Choose another machine class, or no container.';
  }

  async secondsLeft(job: OwnedJob): Promise<number> {
    const number = this.externalId(job);
    if (number === undefined) throw new AppError('unreachable', NOT_LISTED);
    return Math.floor(((await allocationEnd(number)) - Date.now() - ENDING_MS) / 1000);
  }

  async cancel({ id, account }: OwnedJob): Promise<void> {
    const user = this.#options.users.of(account);
    if (user !== undefined) await slurm('scancel', [`--name=${id}`], { user });
  }

  /** The node's own daemon ends all processes of the job, without the grace period of the cluster. */
  async endNow({ id, account }: OwnedJob): Promise<boolean> {
    const user = this.#options.users.of(account);
    if (user === undefined) return false;
    await slurm('scancel', ['--signal=KILL', '--full', `--name=${id}`], { user });
    return true;
  }

  async takeBack(job: OwnedJob, folder: JobFolder): Promise<void> {
    const name = this.#nameOf(job);
    const seen = name && this.#queue.get(name);
    if (seen !== undefined) writeMarker(folder.returned, [...(await returnedNumbers(folder)), seen.number]);
    await this.cancel(job);
    this.#forgetRun(job.id);
  }

  async cleanUp(job: OwnedJob): Promise<void> {
    await this.cancel(job);
  }

  forget({ id }: OwnedJob): void {
    this.#launches.delete(id);
    this.#forgetRun(id);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#options.privacy.stop()]);
  }

  #nameOf({ id, account }: OwnedJob): JobName | undefined {
    const user = this.#options.users.of(account)?.id;
    return user === undefined ? undefined : { name: id, user };
  }

  #forgetRun(id: string): void {
    this.#unlistedSince.delete(id);
    this.#backSince.delete(id);
    this.#wereBack.delete(id);
  }

  /** As the queue has it; undefined for a run that the cluster took back. */
  async #jobOf(name: JobName, folder: JobFolder): Promise<SeenJob | undefined> {
    const job = this.#queue.get(name);
    return job !== undefined && (await isReturned(job, folder)) ? undefined : job;
  }

  /** The cluster forgets a job some minutes after its end, or if its controller loses state. */
  async #statusOfUnlisted(name: JobName, hasStarted: boolean): Promise<RunnerStatus> {
    const answers = this.#answersSince(this.#unlistedSince, name.name);
    if (!hasStarted) return answers >= SURE_ANSWERS ? { state: 'absent' } : { state: 'waiting' };
    if (answers < SURE_ANSWERS) return { state: 'running' };
    const job = await accountOf(name);
    if (job !== undefined && phaseOf(job) === 'ended') {
      return { state: 'gone', ending: endingOfClusterJob(job, { hasStarted, words: '' }, name.user) };
    }
    return job !== undefined && answers < MAX_ANSWERS_WITHOUT ? { state: 'running' } : { state: 'gone' };
  }

  /**
   * A duplicate submission waits in the queue too, and a response from before the start shows the job as it was then. A controller that was
   * killed before it had stored the start does not know of the first run, whose heartbeat has stopped.
   */
  async #statusOfReturned(owned: OwnedJob, job: SeenJob, folder: JobFolder): Promise<RunnerStatus> {
    const heartbeat = await heartbeatOf(folder);
    const before = this.#backSince.get(owned.id);
    const isSame = before !== undefined && before.heartbeat === heartbeat;
    const answers = before?.answers ?? this.#queue.answers;
    const at = isSame ? before.at : performance.now();
    this.#backSince.set(owned.id, { answers, at, heartbeat });
    if (this.#queue.answers - answers < SURE_ANSWERS) return { state: 'running' };
    const isSilent = performance.now() - at > SILENCE_MS;
    if (!isSilent && (await wasRequeued(job)) !== true) return { state: 'running' };
    this.#wereBack.add(owned.id);
    return { state: 'returned' };
  }

  async #statusOfEnded(job: SeenJob, name: JobName, folder: JobFolder, hasStarted: boolean): Promise<RunnerStatus> {
    if (job.timesSeen < SURE_ANSWERS) return { state: 'running' };
    const traces: RunnerTraces = { hasStarted, words: await lastWords(folder) };
    if (wasDropped(job, traces)) return { state: 'absent' };
    // A second run found the folder claimed, and ended at once.
    const isBack = hasStarted && (this.#wereBack.has(name.name) || (await wasRequeued(job)));
    if (isBack === true) return { state: 'returned' };
    if (isBack === undefined && job.timesSeen < MAX_ANSWERS_WITHOUT) return { state: 'running' };
    // Only the accounting knows who cancelled a job.
    const account = job.state === 'CANCELLED' ? await accountOf(name) : undefined;
    const isBehind = account !== undefined && phaseOf(account) !== 'ended';
    if (isBehind && job.timesSeen < MAX_ANSWERS_WITHOUT) return { state: 'running' };
    const known = { ...job, cancelledBy: account?.cancelledBy };
    return { state: 'gone', ending: endingOfClusterJob(known, traces, name.user) };
  }

  /** How many responses came since a job was first noticed in a state. */
  #answersSince(noticed: Map<string, number>, jobId: string): number {
    const since = noticed.get(jobId) ?? this.#queue.answers;
    noticed.set(jobId, since);
    return this.#queue.answers - since;
  }
}

interface Back {
  /** The number of responses when it was first noticed. */
  readonly answers: number;
  /** When its heartbeat was first seen, by `performance.now()`. */
  readonly at: number;
  readonly heartbeat: number | undefined;
}

/** The time of the last heartbeat of a job's runner, by the clock of its node. */
async function heartbeatOf({ started, installing }: JobFolder): Promise<number | undefined> {
  const times = await Promise.all([started, installing].map((path) => lstat(path).catch(() => undefined)));
  const found = times.flatMap((stats) => (stats === undefined ? [] : [stats.mtimeMs]));
  return found.length === 0 ? undefined : Math.max(...found);
}

const numbers = z.array(z.number());
const MAX_NUMBERS_BYTES = 10_000;

/** A job can put anything in the place of the file, and so hide only its own runs. */
async function returnedNumbers({ returned }: JobFolder): Promise<readonly number[]> {
  const text = await readJobText(returned, MAX_NUMBERS_BYTES).catch(() => undefined);
  return numbers.safeParse(tryParseJson(text ?? '')).data ?? [];
}

async function isReturned({ number }: ClusterJob, folder: JobFolder): Promise<boolean> {
  return (await returnedNumbers(folder)).includes(number);
}

async function isListed(
  { id }: RunnableJob,
  user: ClusterUser,
  folder: JobFolder,
  signal: AbortSignal,
): Promise<boolean> {
  if (!existsSync(submissionScript(folder))) return false;
  const name = { name: id, user: user.id };
  const job = findClusterJob(await slurm('squeue', [...QUERY, `--name=${id}`, `--user=${user.id}`], { signal }), name);
  return (
    job !== undefined &&
    !(await isReturned(job, folder)) &&
    !wasDropped(job, { hasStarted: false, words: await lastWords(folder) })
  );
}

function failedAs(reason: string): RunnerEnding {
  return { state: 'failed', reason, isCharged: false, isCause: true };
}

function userIsMissing(account: string): string {
  return `The service's configuration has no user of the cluster for the account ${account}, as whom its jobs would be submitted. Ask the operator to add:  [slurm.accounts.${account}] user = "…"`;
}
