import { existsSync } from 'node:fs';
import { messageOf } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import type { Executor } from '../executor/executor.ts';
import type { ExecutorCalls } from '../executor/executorCalls.ts';
import type { StoreFile } from '../store/database/storeFile.ts';
import type { Drain, DrainRecord } from '../store/jobs/drainRecord.ts';
import type { JobTable } from '../store/jobs/jobTable.ts';
import { ClockWatch } from './clockWatch.ts';
import {
  checkDisk,
  clockPart,
  clusterPart,
  drainPart,
  executorPart,
  freeBytesOf,
  type HealthPart,
  queuePart,
  signInPart,
  slotsPart,
} from './parts.ts';

// However often anyone requests the health, disk, store and queue are checked at this interval.
const MAX_AGE_MS = 2_000;
// Cached, because hundreds of submissions a second may ask.
const FREE_MAX_AGE_MS = 250;
// A cluster that a job has asked more recently than this is not asked again.
const LOOK_MS = 5_000;

export interface HealthSources {
  readonly store: {
    readonly file: Pick<StoreFile, 'probe'>;
    readonly jobs: Pick<JobTable, 'queued'>;
    readonly drain: Pick<DrainRecord, 'get'>;
  };
  /** The data folder, and the one with the folders of jobs, which is missing if it was on a file system that is gone. */
  readonly folders: readonly string[];
  /** Free space below which jobs are refused. */
  readonly minFreeBytes: number;
}

/** What runs the jobs of a service. */
export interface JobCounts {
  readonly calls: Pick<ExecutorCalls, 'failures'> & {
    readonly executor: Pick<Executor, 'refusal' | 'cluster' | 'capacity'>;
  };
  /** Returns how many jobs the executor has now. */
  readonly countActive: () => number;
}

/** The health of a service and of each of its parts. */
export interface HealthReport {
  /** The worst status of a part. */
  readonly status: HealthPart['status'];
  readonly parts: Readonly<Record<string, HealthPart>>;
}

/**
 * Finds what prevents the service from accepting, keeping and running jobs. The sentences of its report contain no path and no
 * account, because anyone can read them.
 */
export class Health {
  readonly #options: HealthSources;
  readonly clock = new ClockWatch();
  #checked: { readonly at: number; readonly parts: Promise<HealthReport['parts']> } | undefined;
  #free: { readonly at: number; readonly bytes: Promise<number> } | undefined;
  #isStopping = false;
  #jobs: JobCounts | undefined;
  #signIns: { readonly isAvailable: boolean } | undefined;

  constructor(options: HealthSources) {
    this.#options = options;
  }

  /** Includes what runs the jobs in the report. */
  watch(jobs: JobCounts): void {
    this.#jobs = jobs;
  }

  /** Includes the identity provider in the report. */
  watchSignIns(signIns: { readonly isAvailable: boolean }): void {
    this.#signIns = signIns;
  }

  /** Why no job can be started, so that submissions are refused; undefined if jobs can. */
  get executorRefusal(): string | undefined {
    return this.#jobs?.calls.executor.refusal();
  }

  /** Undefined unless an operator has drained the service. */
  get drain(): Drain | undefined {
    return this.#options.store.drain.get();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Refuses everything new from now on. */
  stop(): void {
    this.#isStopping = true;
  }

  get minFreeBytes(): number {
    return this.#options.minFreeBytes;
  }

  /** How many jobs are queued, and since when the oldest. */
  get queued(): ReturnType<JobTable['queued']> {
    return this.#options.store.jobs.queued();
  }

  /** How many jobs the executor can have, and how many of those it could take now; undefined before the service has started. */
  get slots(): { readonly all: number; readonly free: number } | undefined {
    if (this.#jobs === undefined) return undefined;
    const { calls, countActive } = this.#jobs;
    const { capacity } = calls.executor;
    return { all: capacity, free: Math.max(0, capacity - countActive()) };
  }

  /** As `freeBytesOf` its folders, a moment ago. */
  freeBytes(): Promise<number> {
    const now = performance.now();
    if (this.#free === undefined || now - this.#free.at > FREE_MAX_AGE_MS) {
      this.#free = { at: now, bytes: freeBytesOf(this.#options.folders) };
    }
    return this.#free.bytes;
  }

  async report(): Promise<HealthReport> {
    const serviceParts = { drain: drainPart(this.drain), clock: clockPart(this.clock.lastStep) };
    const signIn = this.#signIns && { sign_in: signInPart(this.#signIns) };
    const parts = { ...(await this.#checkedParts()), ...this.#partsOfJobs(), ...signIn, ...serviceParts };
    const statuses = new Set(Object.values(parts).map(({ status }) => status));
    const status = (['unavailable', 'degraded', 'draining'] as const).find((each) => statuses.has(each)) ?? 'ok';
    return { status, parts };
  }

  /** Why no job can be stored, whatever its size: a folder is gone; undefined if all are there. */
  get folderRefusal(): string | undefined {
    if (this.#options.folders.every((folder) => existsSync(folder))) return undefined;
    return `The service takes no job now: the files of jobs can't be reached, because their file system may not be mounted. Try again later, or ask the operator of the service.`;
  }

  /** Why a submission of this size is refused now; undefined if it is not. @throws the system's error if a folder is gone. */
  async refusal(uploadBytes: number): Promise<string | undefined> {
    const { minFreeBytes } = this.#options;
    const free = await this.freeBytes();
    if (free - uploadBytes >= minFreeBytes) return undefined;
    return `The service takes no job now: its disk is nearly full (${formatBytes(free)} left, and ${formatBytes(minFreeBytes)} are kept for running jobs). Try again later, or ask the operator of the service.`;
  }

  /** Checks what nothing else notices: the clock, and a cluster that no job asks. Called every few seconds. */
  async look(): Promise<void> {
    this.clock.compare();
    const cluster = this.#jobs?.calls.executor.cluster;
    if (cluster === undefined || performance.now() - (cluster.answeredAt ?? -Infinity) < LOOK_MS) return;
    await cluster.look().catch(() => {}); // the report says so, and the executor has logged it
  }

  #partsOfJobs(): HealthReport['parts'] {
    if (this.#jobs === undefined) return {};
    const { executor, failures } = this.#jobs.calls;
    const { slots } = this;
    return {
      executor: executorPart(executor.refusal() !== undefined, failures),
      ...(executor.cluster && { cluster: clusterPart(executor.cluster) }),
      ...(slots && { slots: slotsPart(slots) }),
    };
  }

  #checkedParts(): Promise<HealthReport['parts']> {
    const now = performance.now();
    if (this.#checked === undefined || now - this.#checked.at > MAX_AGE_MS) {
      this.#checked = { at: now, parts: this.#check() };
    }
    return this.#checked.parts;
  }

  async #check(): Promise<HealthReport['parts']> {
    const { folders, minFreeBytes } = this.#options;
    return { ...this.#checkStore(), disk: await checkDisk(folders, minFreeBytes) };
  }

  #checkStore(): HealthReport['parts'] {
    try {
      this.#options.store.file.probe();
      return {
        store: { status: 'ok', message: 'The store can be written.' },
        queue: queuePart(this.queued, Date.now()),
      };
    } catch (error) {
      return { store: { status: 'unavailable', message: `The store cannot be written: ${messageOf(error)}.` } };
    }
  }
}
