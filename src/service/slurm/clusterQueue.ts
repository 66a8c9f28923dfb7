import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import type { ClusterContact } from '../executor/executor.ts';
import { type ClusterJob, phaseOf } from './queueState.ts';
import { slurm } from './slurmCommand.ts';
import { StartEstimates } from './startEstimates.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { clusterLog } from './batch/sbatchSubmission.ts';

/** Arguments of `squeue` for `parseQueue`. The name comes last, because the other fields never contain a bar. */
export const QUERY = ['-h', '-t', 'all', '-o', '%i|%T|%r|%N|%U|%S|%j'];
// Longer than each reason of Slurm, and than most lists of nodes, which name ranges.
const MAX_FIELD = 300;
const PHASE_ORDER = { running: 2, waiting: 1, ended: 0 };
const MAX_WORDS = 500;
const ACCOUNTED_DAYS = 60;

/** A job of the service, as the cluster knows it. Other users can give their jobs the same name. */
export interface JobName {
  readonly name: string;
  /** The ID of the user that it was submitted as. */
  readonly user: number;
}

/** A job in the queue, and how long it has been in its state. */
export interface SeenJob extends ClusterJob {
  /** The number of consecutive responses in which it was in this state. */
  readonly timesSeen: number;
  /** A sentence about the start of a job that waits; empty if the cluster expects nothing. */
  readonly expectation: string;
}

/**
 * The cluster's queue, requested for all jobs at once and only while needed. The manual of squeue(1) forbids requesting it for
 * each job in a loop, which slows the controller down for everyone.
 */
export class ClusterQueue implements ClusterContact {
  readonly #log: Logger;
  readonly #intervalMs: number;
  readonly #users: readonly number[];
  readonly #stop = new AbortController();
  readonly #estimates = new StartEstimates();
  #jobs: ReadonlyMap<string, SeenJob> = new Map();
  #answers = 0;
  #answeredAt: number | undefined;
  #failingSince: Date | undefined;
  #asking: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #isWanted = false;

  /** @param options.users the IDs of the users whose jobs are requested. */
  constructor({ log, intervalMs, users }: { log: Logger; intervalMs: number; users: readonly number[] }) {
    this.#log = log;
    this.#intervalMs = intervalMs;
    this.#users = users;
  }

  /** How many times the cluster has responded. Whatever was done before a response is in the next one. */
  get answers(): number {
    return this.#answers;
  }

  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  get failingSince(): Date | undefined {
    return this.#failingSince;
  }

  /** A job as of the last response. Also keeps the polling active for a while. */
  get(name: JobName): SeenJob | undefined {
    this.#isWanted = true;
    this.#asking ??= this.#ask();
    return this.#jobs.get(keyOf(name));
  }

  /** Requests the queue now, or waits for the request in progress: a controller that hangs gets one at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#askOnce(this.#stop.signal).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([this.#asking, this.#looking]);
  }

  async #ask(): Promise<void> {
    const { signal } = this.#stop;
    while (this.#isWanted && !signal.aborted) {
      this.#isWanted = false;
      await this.look().catch(() => {}); // it is logged, and `failingSince` has it
      await sleep(this.#intervalMs, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#asking = undefined;
  }

  async #askOnce(signal: AbortSignal): Promise<void> {
    try {
      const answer = await slurm('squeue', [...QUERY, '-u', this.#users.join(',')], { signal });
      this.#jobs = this.#remember(parseQueue(answer));
      this.#answers += 1;
      this.#answeredAt = performance.now();
      this.#failingSince = undefined;
    } catch (error) {
      if (!signal.aborted) {
        this.#failingSince ??= new Date();
        this.#log.warn('the cluster does not answer', { error: messageOf(error) });
      }
      throw error;
    }
  }

  #remember(jobs: ReadonlyMap<string, ClusterJob>): ReadonlyMap<string, SeenJob> {
    const seen = new Map<string, SeenJob>();
    const now = Date.now();
    this.#estimates.observe(jobs, now);
    for (const [key, job] of jobs) {
      const before = this.#jobs.get(key);
      const isSame = before?.state === job.state && before.reason === job.reason;
      const timesSeen = isSame ? before.timesSeen + 1 : 1;
      seen.set(key, { ...job, timesSeen, expectation: this.#estimates.describe(job, now) });
    }
    return seen;
  }
}

/** A job among those of an answer of `squeue` or `sacct`. */
export function findClusterJob(answer: string, name: JobName): ClusterJob | undefined {
  return parseQueue(answer).get(keyOf(name));
}

/**
 * Jobs by `keyOf`. A controller that lost its state can have several with one name; of those, the one that got furthest, and of several
 * that ended the last.
 */
function parseQueue(text: string): ReadonlyMap<string, ClusterJob> {
  const jobs = new Map<string, ClusterJob>();
  for (const line of text.split('\n')) {
    const [number = '', state = '', reason = '', nodes = '', user = '', start = '', ...rest] = line.split('|');
    const name = rest.join('|').trim();
    if (name === '') continue;
    const key = keyOf({ name, user: Number(user) });
    const shown = { state: bounded(state), reason: bounded(reason), nodes: bounded(nodes) };
    const job = { number: Number(number), name, ...shown, startsAt: readTime(start) };
    const other = jobs.get(key);
    const isFurther = other === undefined ? 1 : PHASE_ORDER[phaseOf(job)] - PHASE_ORDER[phaseOf(other)];
    if (isFurther > 0 || (isFurther === 0 && job.number >= (other?.number ?? 0))) jobs.set(key, job);
  }
  return jobs;
}

/** A field that becomes part of a job's reason, which is stored each time it changes. */
function bounded(field: string): string {
  const line = printableLine(field);
  return line.length <= MAX_FIELD ? line : `${line.slice(0, MAX_FIELD - 1).toWellFormed()}…`;
}

/** A time in the time zone of this machine, in milliseconds; undefined for `N/A`, and for times in another form. */
function readTime(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function keyOf({ name, user }: JobName): string {
  return `${user} ${name}`;
}

/** The job according to the cluster's accounting, after the queue has forgotten it; undefined without accounting. */
export async function accountOf({ name, user }: JobName): Promise<ClusterJob | undefined> {
  const format = 'JobIDRaw,State,Reason,NodeList,UID,Start,JobName';
  const since = `--starttime=now-${ACCOUNTED_DAYS}days`;
  try {
    const filters = [since, `--name=${name}`, `--user=${user}`];
    const job = findClusterJob(await slurm('sacct', ['-n', '-X', '-P', ...filters, '-o', format]), { name, user });
    if (job === undefined) return undefined;
    const [state = '', , canceller] = job.state.split(' '); // "CANCELLED by 1000"
    return { ...job, state, ...(canceller !== undefined && { cancelledBy: Number(canceller) }) };
  } catch {
    return undefined; // most small clusters have no accounting
  }
}

/** Whether the cluster has put the job back into its queue, which its state alone does not show; undefined if it does not answer. */
export async function wasRequeued({ number }: ClusterJob): Promise<boolean | undefined> {
  try {
    return /\bRestarts=[1-9]/.test(await slurm('scontrol', ['--oneliner', 'show', 'job', String(number)]));
  } catch (error) {
    // It was forgotten.
    return /Invalid job id/.test(messageOf(error)) ? false : undefined;
  }
}

/** When the cluster ends a job at the latest, in milliseconds. @throws AppError `unreachable` if it does not say. */
export async function allocationEnd(number: string): Promise<number> {
  const time = readTime((await slurm('squeue', ['-h', '-o', '%e', `--jobs=${number}`])).trim());
  if (time !== undefined) return time;
  throw new AppError('unreachable', 'The cluster does not say when the job has to end. Try again.');
}

/** What Slurm wrote to the job's own log. */
export async function lastWords(folder: JobFolder): Promise<string> {
  const text = (await readJobText(clusterLog(folder), MAX_WORDS).catch(() => '')) ?? '';
  const lines = printableText(text).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ');
}
