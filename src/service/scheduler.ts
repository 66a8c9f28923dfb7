import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import type { JobFiles } from './jobFiles.ts';
import { unreportedEnding } from './jobEnding.ts';
import { finishJob, type FollowContext, followRunner } from './jobFollower.ts';
import { claimJob } from './runner/jobFolder.ts';
import { processIdentity } from './runner/processes.ts';
import type { StoredJob } from './store/jobs.ts';

const RETRY_MS = 1_000;

export interface SchedulerOptions extends FollowContext {
  readonly files: JobFiles;
  /** Jobs that run at once. */
  readonly concurrency: number;
}

/** Starts queued jobs in the order of their submission, follows those that run, and takes up again what an earlier service left. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #active = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Takes up the unfinished jobs of an earlier service: a claimed one is followed, any other waits for its turn again. */
  start(): void {
    const { store, files } = this.#options;
    for (const job of store.jobs.unfinished()) {
      if (existsSync(files.folder(job.id).claim)) this.#begin(job);
      else if (job.state !== 'queued') store.setState(job, 'queued', Date.now(), 'The service was restarted.');
    }
    this.startNext();
  }

  /** Starts queued jobs while there is room. */
  startNext(): void {
    const { store, concurrency } = this.#options;
    while (this.#active.size < concurrency && !this.#stop.signal.aborted) {
      const job = store.jobs.nextQueued();
      if (job === undefined) return;
      store.setState(job, 'starting', Date.now());
      this.#begin(job);
    }
  }

  /** Asks for the end of a job; what has ended stays as it is. */
  async cancel(job: StoredJob): Promise<void> {
    if (job.finishedAt !== null) return;
    const { store, files } = this.#options;
    const folder = files.folder(job.id);
    // Before the claim, so that a crash between the two cannot make the job look like one whose runner was killed.
    writeFileSync(folder.cancel, '', { mode: 0o600 });
    if (job.state !== 'queued') return;
    const identity = processIdentity(process.pid) ?? 'unknown';
    if (!claimJob(folder, { pid: process.pid, identity })) return;
    store.finish(job, unreportedEnding({ hasStarted: false, isCancelled: true }, Date.now()), []);
    await files.remove(job.id);
  }

  /** Ends following; runners go on and are taken up by the next service. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#active.values());
  }

  #begin(job: StoredJob): void {
    const run = this.#run(job.id).finally(() => {
      this.#active.delete(job.id);
      this.startNext();
    });
    this.#active.set(job.id, run);
  }

  async #run(jobId: string): Promise<void> {
    const { signal } = this.#stop;
    let failure: AppError | undefined;
    while (!signal.aborted) {
      try {
        await (failure === undefined ? this.#follow(jobId) : this.#giveUp(jobId, failure));
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.error('following a job failed', { jobId, error });
        if (error instanceof AppError) failure ??= error;
        else await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  async #follow(jobId: string): Promise<void> {
    const { executor, files } = this.#options;
    const folder = files.folder(jobId);
    if (!existsSync(folder.claim)) await executor.launch(folder);
    await followRunner(jobId, folder, this.#options, this.#stop.signal);
  }

  /** Ends a job that cannot be run or followed, for a reason that trying again does not change. */
  async #giveUp(jobId: string, failure: AppError): Promise<void> {
    const { store, executor, files } = this.#options;
    const job = store.jobs.get(jobId);
    if (job === undefined || job.finishedAt !== null) return;
    const folder = files.folder(jobId);
    await executor.cleanUp(folder, jobId);
    const ending = unreportedEnding({ hasStarted: job.startedAt !== null, isCancelled: false }, Date.now());
    await finishJob(job, folder, { ...ending, reason: failure.message }, this.#options, this.#stop.signal);
  }
}
