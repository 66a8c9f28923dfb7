import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { type DiskStop, type DiskWatch, MAX_ROOM_WAITS } from '../disk/diskWatch.ts';
import type { JobPlacement, QueuedJob } from '../executor/executor.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import { JobQueue, type MostAtWork } from './jobQueue.ts';
import { cancelledUnstarted, endedInLaterStore, unreportedEnding } from './jobEnding.ts';
import { verifiedTimes } from './verifiedTime.ts';
import { finishJob, type FollowContext, followRunner } from './jobFollower.ts';
import { FollowPace } from './jobWatch.ts';
import { prepareWorkspace } from './jobWorkspace.ts';
import { askForEnd, claimJob, type JobFolder } from '../jobFiles/jobFolder.ts';
import { processIdentity } from '../../core/processes/processTree.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
const CANCEL_WAIT_MS = 2_000;

export interface SchedulerOptions extends Omit<FollowContext, 'pace'> {
  readonly files: JobFiles;
  readonly disk: Pick<DiskWatch, 'untilRoom' | 'isShort'>;
  /** Returns how many jobs of an account the executor may have at once. */
  readonly maxRunningJobs: MostAtWork;
}

/** Hands queued jobs to the executor, fairly between accounts, follows them, and resumes the jobs of an earlier service. */
export class Scheduler {
  readonly #options: SchedulerOptions & Pick<FollowContext, 'pace'>;
  // Each job has its own signal, because adding a listener takes longer the more there are on the same signal.
  readonly #active = new Map<string, { readonly run: Promise<void>; readonly stop: AbortController }>();
  #isStopped = false;
  /** Whether waiting jobs are missing from the queue. The store has them in order. */
  #isQueueStale = false;
  /** Jobs that were not handed over, because the service is drained. */
  readonly #putBack = new Set<string>();
  readonly #queue = new JobQueue();
  /** Jobs that were cancelled while they were handed over. Their files are deleted once nobody writes them. */
  readonly #neverRan = new Set<string>();
  /** Stops writing the workspace of a job. */
  readonly #preparing = new Map<string, AbortController>();
  /** Why jobs of the queue wait, as it is stored. */
  readonly #reasons = new Map<string, string>();

  constructor(options: SchedulerOptions) {
    this.#options = { ...options, pace: new FollowPace() };
  }

  /** The IDs of the jobs that the executor has now. */
  get active(): readonly string[] {
    return [...this.#active.keys()];
  }

  /** How many jobs the executor has now. */
  get activeJobs(): number {
    return this.#active.size;
  }

  /** Resumes the unfinished jobs of an earlier service: a claimed one is followed, any other is queued again. */
  start(): void {
    const { store, files, executor } = this.#options;
    const cancelled: string[] = [];
    executor.placement?.onDidChange(() => this.startNext());
    for (const job of store.jobs.unfinished()) {
      if (job.cancelReason !== null) cancelled.push(job.id);
      // While it is drained, a job that the cluster may have is followed and not handed over again.
      const mayRun = !executor.isLocal && store.drain.get() !== undefined;
      const folder = files.folder(job.id);
      const { claim, results } = folder;
      if (mayRun || existsSync(claim)) {
        executor.placement?.adopt(job, folder);
        this.#begin(job);
      } else if (existsSync(results)) store.finish(job, endedInLaterStore(Date.now()), []);
      else {
        if (job.state !== 'queued') store.setState(job, 'queued', Date.now(), 'The service was restarted.');
        else if (job.reason !== null) this.#reasons.set(job.id, job.reason);
        this.#queue.add(job);
      }
    }
    for (const id of cancelled) this.#repeatCancel(id);
    this.startNext();
  }

  /** Queues a submitted job. */
  enqueue(job: QueuedJob): void {
    this.#queue.add(job);
    this.startNext();
  }

  /** Starts the queued jobs that can start now, unless the service is drained. */
  startNext(): void {
    const { store, executor, maxRunningJobs, disk } = this.#options;
    if (this.#isStopped || store.drain.get() !== undefined || disk.isShort) return;
    if (this.#isQueueStale) {
      this.#queue.refill(store.jobs.unfinished().filter(({ id }) => !this.#active.has(id)));
      this.#isQueueStale = false;
    }
    if (executor.placement !== undefined) return this.#place(executor.placement);
    while (this.#active.size < executor.capacity) {
      const id = this.#queue.take(maxRunningJobs);
      if (id === undefined) return;
      this.#beginQueued(id);
    }
  }

  #place(placement: JobPlacement): void {
    const { starts, waits, first } = placement.place(() => this.#queue.order(this.#options.maxRunningJobs));
    this.#queue.keepFirst(first);
    for (const job of starts) {
      this.#queue.start(job);
      this.#reasons.delete(job.id);
      if (!this.#beginQueued(job.id)) this.#options.executor.forget(job);
    }
    for (const [id, reason] of waits) {
      if (reason === undefined || this.#reasons.get(id) === reason) continue;
      this.#noteReason(id, () => reason);
      this.#reasons.set(id, reason);
    }
    for (const id of this.#reasons.keys()) {
      if (waits.get(id) !== undefined) continue;
      this.#noteReason(id, () => undefined);
      this.#reasons.delete(id);
    }
  }

  /** @returns false for a job that was cancelled in the queue. */
  #beginQueued(id: string): boolean {
    const job = this.#options.store.jobs.get(id);
    if (job?.finishedAt !== null || this.#active.has(id)) return false;
    this.#begin(job);
    return true;
  }

  /** Cancels a job unless it has ended. */
  async cancel(job: StoredJob): Promise<void> {
    if (job.finishedAt !== null) return;
    const { executor, log } = this.#options;
    if (this.#claimToCancel(job)) {
      this.#finishUnstarted(job);
      const wasFirst = this.#queue.remove(job);
      this.#reasons.delete(job.id);
      this.#preparing.get(job.id)?.abort();
      if (this.#active.has(job.id)) this.#neverRan.add(job.id);
      else await this.#removeFiles(job.id);
      if (wasFirst) this.startNext();
    }
    try {
      await executor.cancel(job);
    } catch (error) {
      // A runner sees the cancel file, and one that starts later finds the job claimed.
      log.warn('the executor could not be asked to cancel', { jobId: job.id, error: messageOf(error) });
    }
  }

  /** Stops a job that uses too much of the disk. It ends as failed, for this reason. */
  async stopForDisk(job: StoredJob, { reason, isUrgent }: DiskStop): Promise<void> {
    try {
      this.#options.store.jobs.setStopped(job.id, reason, isUrgent ? Date.now() : null);
    } finally {
      await this.cancel(this.#options.store.jobs.get(job.id) ?? job);
    }
  }

  /** Cancels a job, and waits a moment for its end, which most jobs reach at once. */
  async cancelAndWait(job: StoredJob, signal: AbortSignal): Promise<void> {
    await this.cancel(job);
    await this.#options.store.untilFinished(job.id, AbortSignal.any([AbortSignal.timeout(CANCEL_WAIT_MS), signal]));
  }

  /** Stops following. Runners continue, and the next service resumes them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const active = [...this.#active.values()];
    for (const { stop } of active) stop.abort();
    await Promise.all([...active.map(({ run }) => run), this.#options.executor.stop()]);
  }

  /** Carries out a cancellation that an operator ordered while no service ran, or just before one was killed. */
  #repeatCancel(jobId: string): void {
    const job = this.#options.store.jobs.get(jobId);
    if (job === undefined) return;
    this.cancel(job).catch((error: unknown) => this.#options.log.error('a job was not cancelled', { jobId, error }));
  }

  /** Asks the runner of a job to end it. @returns whether the job has none, and will get none. */
  #claimToCancel(job: StoredJob): boolean {
    try {
      // After a power loss the folder is recreated only when the job starts.
      const folder = this.#options.files.makeFolder(job.id);
      // Stored before the claim, because after a crash in between, the job would look as if its runner had been killed.
      askForEnd(folder);
      const identity = processIdentity(process.pid) ?? 'unknown';
      return job.state === 'queued' && claimJob(folder, { pid: process.pid, identity });
    } catch (error) {
      // A full disk has no room for the claim. A job that still waits in the queue needs none.
      if (job.state !== 'queued' || this.#active.has(job.id) || !isDiskFull(error)) throw error;
      return true;
    }
  }

  #finishUnstarted(job: StoredJob): void {
    try {
      this.#options.store.finish(job, cancelledUnstarted(Date.now()), []);
    } catch (error) {
      // The next cancellation, or the runner that sees the file when it starts, ends the job instead.
      rmSync(this.#options.files.folder(job.id).claim, { force: true });
      throw error;
    }
  }

  async #removeFiles(id: string): Promise<void> {
    await this.#options.files.remove(id);
    await this.#options.waiting.remove(id);
  }

  #begin(job: StoredJob): void {
    this.#queue.noteAtWork(job.account);
    const stop = new AbortController();
    const run = this.#run(job, stop.signal).finally(() => {
      // A runner that has just been started is about to use what was made for it, and the next service follows it.
      if (!stop.signal.aborted) this.#options.executor.forget(job);
      this.#options.secrets.forget(job.id);
      this.#queue.release(job.account);
      this.#active.delete(job.id);
      if (this.#putBack.delete(job.id)) this.#isQueueStale = true;
      this.startNext();
    });
    this.#active.set(job.id, { run, stop });
  }

  async #run(job: StoredJob, signal: AbortSignal): Promise<void> {
    let failure: AppError | undefined;
    let roomWaits = 0;
    for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(LAST_RETRY_MS, 2 * retryMs)) {
      try {
        await (failure === undefined ? this.#follow(job, signal) : this.#giveUp(job.id, failure, signal));
        if (this.#neverRan.delete(job.id)) await this.#removeFiles(job.id);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.error('following a job failed', { jobId: job.id, error });
        const isFull = error instanceof AppError && error.code === 'no-space';
        if (isFull && roomWaits < MAX_ROOM_WAITS && (await this.#options.disk.untilRoom(job, signal))) {
          roomWaits += 1;
        } else if (failure === undefined && error instanceof AppError && error.code !== 'unreachable') {
          failure = error;
        } else {
          this.#noteDelay(job.id, error);
          await sleep(retryMs, undefined, { signal, ref: false }).catch(() => {});
        }
      }
    }
  }

  async #follow(job: StoredJob, signal: AbortSignal): Promise<void> {
    const { store, executor, files, secrets } = this.#options;
    const folder = files.folder(job.id);
    let hasEnded = false;
    // A job that was cancelled meanwhile has ended, and has no folder.
    while (!hasEnded && store.jobs.get(job.id)?.finishedAt === null) {
      if (!existsSync(folder.claim) && store.drain.get() !== undefined) {
        if (executor.isLocal || (await executor.status(job, folder)).state === 'absent') {
          this.#putBack.add(job.id);
          return;
        }
      } else if (!existsSync(folder.claim)) {
        await this.#prepare(job, folder, signal);
        // It was cancelled meanwhile, or the service was drained.
        if (store.jobs.get(job.id)?.finishedAt !== null || store.drain.get() !== undefined) continue;
        await executor.launch(job, folder, signal, await secrets.valuesFor(job, folder));
      }
      hasEnded = await followRunner(job, folder, this.#options, signal);
    }
  }

  /** Writes the workspace of a job unless that was done, or the job is cancelled meanwhile. */
  async #prepare(job: StoredJob, folder: JobFolder, signal: AbortSignal): Promise<void> {
    const cancelled = new AbortController();
    this.#preparing.set(job.id, cancelled);
    try {
      await prepareWorkspace(job, folder, this.#options, AbortSignal.any([signal, cancelled.signal]));
    } catch (error) {
      if (!cancelled.signal.aborted) throw error;
    } finally {
      this.#preparing.delete(job.id);
    }
  }

  /** Stores why a job waits, such as for an executor that does not respond. */
  #noteDelay(jobId: string, cause: unknown): void {
    this.#noteReason(jobId, (job) => this.#options.files.withoutPaths(messageOf(cause), job));
  }

  /** A failure to store it is only logged. */
  #noteReason(jobId: string, reasonFor: (job: StoredJob) => string | undefined): void {
    const { store, log } = this.#options;
    try {
      const job = store.jobs.get(jobId);
      const reason = job && reasonFor(job);
      if (job?.state === 'queued' && job.reason !== (reason ?? null)) store.setState(job, 'queued', Date.now(), reason);
    } catch (error) {
      log.error('the reason why a job waits could not be stored', { jobId, error });
    }
  }

  /** Ends a job that cannot be run or followed, if a retry would not help. */
  async #giveUp(jobId: string, failure: AppError, signal: AbortSignal): Promise<void> {
    const { store, executor, files, machineClasses } = this.#options;
    const job = store.jobs.get(jobId);
    if (job === undefined || job.finishedAt !== null) return;
    const folder = files.folder(jobId);
    await executor.cleanUp(job, folder);
    const now = Date.now();
    const facts = { machineClasses, isCancelled: false, verified: await verifiedTimes(job, folder, { now }) };
    const reason = files.withoutPaths(failure.message, job);
    const ending = { ...unreportedEnding(job, facts, now), reason };
    if (existsSync(folder.manifest)) return finishJob(job, folder, ending, this.#options, signal);
    // The workspace was never written, so there are no results.
    store.finish(job, ending, []);
    await this.#removeFiles(jobId);
  }
}
