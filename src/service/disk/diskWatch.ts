import { readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/log.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { repeat } from '../../core/processes/repeat.ts';
import { formatBytes } from '../../core/text/format.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { environmentPaths, environmentsIn } from '../folders/environmentFolder.ts';
import { freeBytesOf } from '../health/parts.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { keptResults } from './diskUsage.ts';
import { folderBytes } from './folderBytes.ts';

// A fast disk takes a gigabyte in this time.
const LOOK_MS = 250;
// Measuring takes at most a fifth of the time, however many files jobs have.
const MEASURE_MS = 1_000;
const MEASURE_PAUSE_FACTOR = 4;
// A folder that takes longer counts as the largest while the disk has too little room.
const URGENT_MS = 3_000;
const RESULTS_MS = 60_000;
const MAX_WAIT_MS = 60_000;
/** How often a job waits for room that others have used up. Its own files may be what needs more than there is. */
export const MAX_ROOM_WAITS = 3;
// An account that uses less than this share of the minimum is not the reason for a shortage.
const NOTABLE_SHARE = 0.1;

/** Why a job was stopped because of the disk. */
export interface DiskStop {
  readonly reason: string;
  /** Whether the job's files are deleted at once, so that there are no results. */
  readonly isUrgent: boolean;
}

export interface DiskWatchOptions {
  readonly store: Pick<Store, 'jobs' | 'expiry' | 'reserve' | 'accounts'>;
  readonly files: JobFiles;
  /** The folder that contains those of jobs and environments. */
  readonly filesFolder: string;
  readonly folders: readonly string[];
  readonly minFreeBytes: number;
  readonly machineClasses: MachineClasses;
  /** Bytes that all files of an account's jobs may occupy together. */
  readonly quotaOf: (account: string) => number;
  /** The name of the folder of an account's kept environments. */
  readonly environmentsOf: (account: string) => string | undefined;
  /** The IDs of the jobs that the executor has. */
  readonly active: () => readonly string[];
  readonly stop: (job: StoredJob, stop: DiskStop) => Promise<void>;
  /** Called when the disk has enough free space again. */
  readonly onRoom: () => void;
  readonly log: Logger;
}

interface Measured {
  readonly job: StoredJob;
  readonly bytes: number;
}

/**
 * Keeps one job or account from filling the disk for all: stops jobs above the limit of their machine class or of their account and,
 * while less than `min_free_gb` is free, the largest job of the account that uses the most.
 */
export class DiskWatch {
  readonly #options: DiskWatchOptions;
  readonly #end = new AbortController();
  /** Bytes of the jobs that the executor has, as of the last measurement. */
  #active: readonly Measured[] = [];
  /** Bytes of ended jobs by account. */
  #ended = new Map<string, number>();
  /** Ended jobs with more than packed results. */
  #leftovers: readonly Measured[] = [];
  #nextMeasure = 0;
  #nextResults = 0;
  #isShort = false;
  /** How often the disk has been looked at. */
  #looks = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(options: DiskWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { log } = this.#options;
    const { signal } = this.#end;
    const round = async (): Promise<void> => {
      try {
        await this.#look();
        this.#looks += 1;
      } catch (error) {
        if (!signal.aborted) log.error('the disk could not be checked', { error });
      }
    };
    this.#running = repeat(round, LOOK_MS, signal);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  /** Whether less than the minimum is free, so that no job is started. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** Bytes that the jobs of an account occupy, a moment ago. */
  bytesOf(account: string): number {
    const jobsOfAccount = this.#active.filter(({ job }) => job.account === account);
    return jobsOfAccount.reduce((sum, { bytes }) => sum + bytes, this.#ended.get(account) ?? 0);
  }

  /** Why an account can submit nothing of this size now; undefined if it can. */
  refusal(account: string, uploadBytes: number): string | undefined {
    const quota = this.#options.quotaOf(account);
    const used = this.bytesOf(account);
    if (used + uploadBytes <= quota) return undefined;
    const sent = uploadBytes > 0 ? `, and this one would add ${formatBytes(uploadBytes)}` : '';
    return `The jobs of your account use ${formatBytes(used)} of disk${sent}; its limit is ${formatBytes(quota)}. Wait until jobs end and old results are deleted, or ask the operator of the service for a higher limit.`;
  }

  /**
   * Waits until the disk has room again, unless the job's own account has used it up.
   *
   * @returns whether it has; false also if that takes too long.
   */
  async untilRoom({ account }: Pick<StoredJob, 'account'>, signal: AbortSignal): Promise<boolean> {
    const { minFreeBytes, folders } = this.#options;
    if (minFreeBytes === 0) return false;
    const deadline = performance.now() + MAX_WAIT_MS;
    // The look that may be under way has not seen what fills the disk now.
    const conclusive = this.#looks + 2;
    while (performance.now() < deadline) {
      if ((await freeBytesOf(folders)) >= minFreeBytes) return true;
      if (this.#looks >= conclusive && this.#toBlame()?.account === account) return false;
      await sleep(LOOK_MS, undefined, { signal });
    }
    return false;
  }

  async #look(): Promise<void> {
    const { folders, minFreeBytes, store, log, onRoom } = this.#options;
    const free = await freeBytesOf(folders);
    if (performance.now() >= this.#nextResults) await this.#readEnded();
    if (free < minFreeBytes) {
      if (!this.#isShort) log.warn('the disk has less free space than min_free_gb', { free, minimum: minFreeBytes });
      this.#isShort = true;
      store.reserve.use();
      await this.#makeRoom(free);
      return;
    }
    if (this.#isShort) {
      log.info('the disk has enough free space again', { free });
      this.#isShort = false;
      this.#nextResults = 0;
      onRoom();
    }
    store.reserve.fill();
    if (performance.now() < this.#nextMeasure) return;
    const startedAt = performance.now();
    await this.#measure();
    const tookMs = performance.now() - startedAt;
    this.#nextMeasure = performance.now() + Math.max(MEASURE_MS, MEASURE_PAUSE_FACTOR * tookMs);
    await this.#enforceLimits();
  }

  async #measure(timeoutMs?: number): Promise<void> {
    const { store, active, files } = this.#options;
    const jobs = active().flatMap((id) => store.jobs.get(id) ?? []);
    const foldersOf = new Map(
      await Promise.all(
        jobs.map(async (job) => [job, [files.folder(job.id).path, ...(await this.#builds(job))]] as const),
      ),
    );
    const all = [...foldersOf.values()].flat();
    const options = { signal: this.#end.signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    const bytes = await folderBytes(all, options);
    const isComplete = bytes.size > 0;
    this.#active = jobs.map((job) => {
      const folders = foldersOf.get(job) ?? [];
      const missing =
        timeoutMs !== undefined && isComplete && folders.some((path) => !bytes.has(path) && existsSync(path));
      return {
        job,
        bytes: missing ? Number.MAX_SAFE_INTEGER : folders.reduce((sum, path) => sum + (bytes.get(path) ?? 0), 0),
      };
    });
  }

  /** The environments that a job builds now. */
  async #builds({ id, account, startedAt }: StoredJob): Promise<readonly string[]> {
    const name = startedAt === null ? this.#options.environmentsOf(account) : undefined;
    if (name === undefined) return [];
    const folder = join(environmentsIn(this.#options.filesFolder), name);
    const keys = await ifThere(readdir(folder), []);
    return keys.map((key) => environmentPaths(folder, key).builtBy(id)).filter((path) => existsSync(path));
  }

  async #readEnded(): Promise<void> {
    const { store, files } = this.#options;
    const ended = new Map<string, number>();
    const leftovers: Measured[] = [];
    for await (const { job, bytes, isPacked } of keptResults(store.expiry, files)) {
      this.#end.signal.throwIfAborted();
      ended.set(job.account, (ended.get(job.account) ?? 0) + bytes);
      if (!isPacked) leftovers.push({ job, bytes });
    }
    this.#ended = ended;
    this.#leftovers = leftovers;
    this.#nextResults = performance.now() + RESULTS_MS;
  }

  async #enforceLimits(): Promise<void> {
    const { machineClasses, quotaOf } = this.#options;
    const largest = this.#active.toSorted((a, b) => b.bytes - a.bytes);
    for (const { job, bytes } of largest) {
      const limit = (machineClasses.get(job.machineClass)?.disk_gb ?? Number.POSITIVE_INFINITY) * 1e9;
      const quota = quotaOf(job.account);
      if (bytes > limit) {
        const reason = `The job was stopped because its files took ${formatBytes(bytes)} of disk; the machine class ${job.machineClass} has ${formatBytes(limit)}. Make it write less, or choose a larger machine class.`;
        await this.#stop(job, { reason, isUrgent: false });
      } else if (this.bytesOf(job.account) > quota) {
        const reason = `The job was stopped because the jobs of its account took ${formatBytes(this.bytesOf(job.account))} of disk, of which this one took ${formatBytes(bytes)}, the most; the account's limit is ${formatBytes(quota)}. Make it write less, or ask the operator of the service for a higher limit.`;
        await this.#stop(job, { reason, isUrgent: false });
        return; // measured again first, because this may be enough
      }
    }
  }

  /** Frees space that jobs use, one job after the other, until there is enough. */
  async #makeRoom(free: number): Promise<void> {
    const { store, minFreeBytes, active, log } = this.#options;
    const stopped = active()
      .flatMap((id) => store.jobs.get(id) ?? [])
      .filter(({ filesRemovedAt }) => filesRemovedAt !== null);
    if (stopped.length > 0) {
      // Until its processes have ended, a job can still write.
      for (const job of stopped) await this.#removeFiles(job);
      return;
    }
    await this.#measure(URGENT_MS);
    await this.#readEnded();
    const [largest] = (this.#toBlame()?.jobs ?? []).toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return;
    const { job, bytes } = largest;
    const used = bytes === Number.MAX_SAFE_INTEGER ? 'more files than could be counted' : formatBytes(bytes);
    log.warn('the files of a job are deleted to free the disk', { jobId: job.id, account: job.account, bytes, free });
    if (job.finishedAt !== null) {
      store.expiry.noteFilesRemoved(job, Date.now());
      await this.#options.files.remove(job.id);
      return;
    }
    const reason = `The job was stopped because the disk of the service had ${formatBytes(free)} left, less than the ${formatBytes(minFreeBytes)} that must stay free. The jobs of this account used the most of it, and this job the most of them: ${used}. Its files were deleted, so there are no results.`;
    await this.#stop(job, { reason, isUrgent: true });
    await this.#removeFiles(job);
  }

  /** The account whose jobs occupy the most, apart from packed results; undefined if even that is too little to matter. */
  #toBlame(): { readonly account: string; readonly bytes: number; readonly jobs: readonly Measured[] } | undefined {
    const sums = new Map<string, Measured[]>();
    for (const measured of [...this.#active, ...this.#leftovers])
      sums.set(measured.job.account, [...(sums.get(measured.job.account) ?? []), measured]);
    const accounts = [...sums].map(([account, jobs]) => ({
      account,
      jobs,
      bytes: jobs.reduce((sum, { bytes }) => sum + bytes, 0),
    }));
    const [most] = accounts.toSorted((a, b) => b.bytes - a.bytes);
    return most !== undefined && most.bytes >= NOTABLE_SHARE * this.#options.minFreeBytes ? most : undefined;
  }

  async #stop(job: StoredJob, stop: DiskStop): Promise<void> {
    this.#options.log.warn('a job is stopped because of the disk', {
      jobId: job.id,
      account: job.account,
      reason: stop.reason,
    });
    await this.#options.stop(job, stop);
  }

  async #removeFiles(job: StoredJob): Promise<void> {
    const { workspace, home, temporary, results } = this.#options.files.folder(job.id);
    for (const path of [workspace, home, temporary, results, ...(await this.#builds(job))]) {
      await removeTree(path).catch(() => {}); // the job may still add files; the next round tries again
    }
  }
}
