import { rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import type { WaitingContents } from '../contents/waitingContents.ts';
import type { Executor, OwnedJob } from '../executor/executor.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { type ExitMarker, readExit, readStarted } from '../jobFiles/markers.ts';
import type { Store } from '../store/store.ts';
import { AppError } from '../../core/errors.ts';
import { isSealed } from '../jobFiles/reportSeal.ts';
import { changedByJob } from '../jobFiles/jobFileReading.ts';

/** How a job ended according to its runner; `forged` if something else wrote the report. */
type RunnerReport =
  | { readonly type: 'none' }
  | { readonly type: 'report'; readonly exit: ExitMarker }
  | { readonly type: 'forged'; readonly reason: string };

/** Whether the store says that a job has started. */
export function hasStarted(jobId: string, store: Pick<Store, 'jobs'>): boolean {
  return (store.jobs.get(jobId)?.startedAt ?? null) !== null;
}

/**
 * Stores that a job has started. What its workspace was written from is removed, unless a cluster may put the job back.
 *
 * @returns whether it has.
 */
export async function noteStart(
  jobId: string,
  folder: JobFolder,
  {
    store,
    executor,
    waiting,
  }: { readonly store: Store; readonly executor: Executor; readonly waiting: Pick<WaitingContents, 'remove'> },
): Promise<boolean> {
  const job = store.jobs.get(jobId);
  if (job === undefined) return false;
  const started = await readStarted(folder.started);
  if (job.state === 'queued') store.setState(job, 'starting', started?.at ?? Date.now());
  if (started === undefined) return false;
  // A time in the future would shorten the run.
  store.setState(job, 'running', Math.min(started.at, Date.now()));
  if (executor.takeBack !== undefined) return true;
  store.removeWorkspace(job);
  await rm(folder.archive, { force: true });
  await waiting.remove(jobId);
  return true;
}

/** Stores the ID by which the executor's tools know a job. A controller that lost its state assigns another one. */
export function noteExternalId(
  job: OwnedJob,
  { executor, store }: { readonly executor: Executor; readonly store: Store },
): void {
  const id = executor.externalId(job);
  if (id !== undefined && store.jobs.get(job.id)?.executorId !== id) store.jobs.setExecutorId(job.id, id);
}

/** Stores why a job waits, if that has changed. @returns whether the job has ended meanwhile, such as by cancellation. */
export function noteWaiting(jobId: string, reason: string | undefined, store: Store): boolean {
  const job = store.jobs.get(jobId);
  if (job === undefined || job.finishedAt !== null) return true;
  if (reason !== undefined && reason !== job.reason) store.setState(job, 'queued', Date.now(), reason);
  return false;
}

export async function readReport(
  jobId: string,
  folder: Pick<JobFolder, 'exit'>,
  executor: Pick<Executor, 'reportSecret'>,
): Promise<RunnerReport> {
  if (!existsSync(folder.exit)) return { type: 'none' };
  try {
    const exit = await readExit(folder.exit);
    if (exit === undefined) return { type: 'none' };
    const secret = executor.reportSecret(jobId);
    if (secret !== undefined && !isSealed(exit, secret)) throw changedByJob(folder.exit);
    return { type: 'report', exit };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'corrupt') throw error;
    return { type: 'forged', reason: error.message };
  }
}
