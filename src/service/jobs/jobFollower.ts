import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import type { Executor, RunnerEnding, RunnerStatus } from '../executor/executor.ts';
import { endingOf, endingWithoutResults, explainedEnding, mayHaveBeenEnded, unreportedEnding } from './jobEnding.ts';
import { removeUnneeded } from '../jobFiles/jobFiles.ts';
import { type FollowPace, JobWatch } from './jobWatch.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { readStarted } from '../jobFiles/markers.ts';
import { readOutput } from './outputReader.ts';
import { readReport } from './runnerReport.ts';
import { collectResults } from './results.ts';
import { verifiedSeconds } from './verifiedTime.ts';
import { askForEnd, type JobFolder } from '../jobFiles/jobFolder.ts';
import type { ServiceEvent } from '../store/jobs/events.ts';
import type { Ending, StoredJob } from '../store/jobs/jobs.ts';
import type { Store } from '../store/store.ts';

// Asking whether a runner lives starts a process on some systems.
const STATUS_POLL_MS = 1_000;
const MAX_NAMED = 5;
const MAX_SHOWN = 200;

export interface FollowContext {
  readonly store: Store;
  readonly executor: Executor;
  readonly machineClasses: MachineClasses;
  readonly log: Logger;
  readonly pace: FollowPace;
  /** What the files that one job brings back may have together. */
  readonly maxResultBytes: number;
}

/**
 * Brings what a job's runner reports into the store until the job has ended. It can be broken off and begun again at any
 * point, in another process too: how far it got is in the store, and every step can be repeated.
 *
 * @returns whether the job has ended; false when its runner must be launched again.
 * @throws the signal's reason on abort; the runner goes on.
 */
export async function followRunner(
  jobId: string,
  folder: JobFolder,
  context: FollowContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, executor } = context;
  const { isLocal } = executor;
  using watch = new JobWatch(folder.path, { pace: context.pace, isLocal });
  let status: RunnerStatus = { state: 'running' };
  let nextStatus = 0;
  let lastSeen: number | undefined;
  for (;;) {
    if (performance.now() >= nextStatus) {
      status = await executor.status(jobId, folder);
      nextStatus = performance.now() + STATUS_POLL_MS;
      if (status.state === 'running') lastSeen = Date.now();
    }
    if (status.state === 'waiting') {
      if (noteWaiting(jobId, status.reason, store)) return true;
      await sleep(STATUS_POLL_MS, undefined, { signal });
      continue;
    }
    if (status.state === 'absent') return store.jobs.get(jobId)?.finishedAt !== null;
    // Read after the question whether the runner lives: its report is there before it ends.
    const report = await readReport(jobId, folder, executor);
    await noteStart(jobId, folder, store);
    const hasNews = await drainOutput(jobId, folder, { store, isLocal }, signal);
    const job = store.jobs.get(jobId);
    if (job === undefined || job.finishedAt !== null) return true;
    const isCancelled = existsSync(folder.cancel);
    if (report.type === 'report') {
      const { exit } = report;
      // Whoever may have ended it is asked, which takes a moment. On this machine nobody but the runner would know.
      const isAsked = !isCancelled && (isLocal ? exit.outcome === 'stopped' : mayHaveBeenEnded(exit));
      if (!isAsked || status.state === 'gone') {
        const told = isAsked && status.state === 'gone' && status.ending?.isCause === true ? status.ending : undefined;
        const own = endingOf(job, exit, { ...context, isCancelled });
        await finishJob(job, folder, explainedEnding(own, told), context, signal);
        return true;
      }
    } else if (report.type === 'forged') {
      // What the service itself saw of the run is charged.
      const ending = { state: 'failed', reason: report.reason, isCharged: true, isCause: true } as const;
      await endUnreported(job, folder, { state: 'gone', ending, lastSeen }, context, signal);
      return true;
    } else if (status.state === 'gone') {
      await endUnreported(job, folder, { ...status, lastSeen }, context, signal);
      return true;
    }
    await watch.next({ hasNews, signal });
  }
}

/** Tells that a job waits, and why, when that is new. Gives whether the job has ended meanwhile, as a cancelled one. */
function noteWaiting(jobId: string, reason: string | undefined, store: Store): boolean {
  const job = store.jobs.get(jobId);
  if (job === undefined || job.finishedAt !== null) return true;
  if (reason !== undefined && reason !== job.reason) store.setState(job, 'queued', Date.now(), reason);
  return false;
}

async function endUnreported(
  job: StoredJob,
  folder: JobFolder,
  { ending: told, lastSeen }: RunnerStatus & { state: 'gone' } & { lastSeen: number | undefined },
  context: FollowContext,
  signal: AbortSignal,
): Promise<void> {
  // A runner on a node that only seems to be gone stops when it sees this.
  const isCancelled = existsSync(folder.cancel);
  askForEnd(folder);
  await context.executor.cleanUp(job.id, folder);
  const now = Date.now();
  const { machineClasses } = context;
  const facts = { machineClasses, isCancelled, verifiedSeconds: await verifiedSeconds(job, folder, { lastSeen, now }) };
  const own = unreportedEnding(job, facts, now);
  await finishJob(job, folder, mergeEndings(own, told, isCancelled), context, signal);
}

/** Our own ending where the executor has none to tell, or only that it did what we asked for. */
function mergeEndings(own: Ending, told: RunnerEnding | undefined, isCancelled: boolean): Ending {
  if (told === undefined || own.state === 'cancelled') return own;
  if (isCancelled && told.state === 'cancelled') return { ...own, state: 'cancelled', reason: null };
  return explainedEnding(own, told);
}

/** Packs the results, ends the job in the store and removes the files that are not needed any more. */
export async function finishJob(
  job: StoredJob,
  folder: JobFolder,
  ending: Ending,
  context: FollowContext,
  signal: AbortSignal,
): Promise<void> {
  const events: ServiceEvent[] = [];
  let final = ending;
  try {
    const { files, leftOut } = await collectResults(folder, { maxBytes: context.maxResultBytes }, signal);
    // The workspace goes next, so from here on the results are all there is.
    await syncFile(folder.results);
    await syncFolder(folder.path);
    // One by one: as the arguments of one call, some hundred thousand overflow the stack.
    for (const data of files) events.push({ type: 'artifact', data });
    if (leftOut.length > 0)
      events.push(
        note(
          `Links, special files, what cannot be read and names that not every system knows are not sent back: ${named(leftOut)}.`,
        ),
      );
  } catch (error) {
    signal.throwIfAborted();
    context.log.error('results could not be packed', { jobId: job.id, error });
    // An archive that is not surely on disk would let the workspace go.
    await rm(folder.results, { recursive: true, force: true }).catch(() => {});
    const problem = unpacked(error, folder);
    events.push(note(`The results ${problem}`));
    final = endingWithoutResults(ending, problem);
  }
  context.store.finish(job, final, events);
  try {
    await removeUnneeded(folder, job);
  } catch (error) {
    context.log.warn('files of a job could not be removed', { jobId: job.id, error });
  }
}

async function noteStart(jobId: string, folder: JobFolder, store: Store): Promise<void> {
  const job = store.jobs.get(jobId);
  if (job === undefined || job.startedAt !== null) return;
  const started = await readStarted(folder.started);
  if (job.state === 'queued') store.setState(job, 'starting', started?.at ?? Date.now());
  if (started === undefined) return;
  // A later time would make the run shorter than it was.
  store.setState(job, 'running', Math.min(started.at, Date.now()));
  await rm(folder.archive, { force: true });
}

/** Takes over what the job has written, and gives whether there was anything. */
async function drainOutput(
  jobId: string,
  folder: JobFolder,
  { store, isLocal }: { readonly store: Store; readonly isLocal: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  for (let pages = 0; ; pages += 1) {
    signal.throwIfAborted();
    const page = await readOutput(folder.output, store.jobs.get(jobId)?.logOffset ?? 0, isLocal);
    if (page === undefined) return pages > 0;
    await store.appendOutput(jobId, page.events, page.offset);
    if (page.isAll) return true;
  }
}

/** What happened to results that were not packed, and where they can be had. */
function unpacked(error: unknown, { workspace }: JobFolder): string {
  const cause = messageOf(error).replace(/[^.]$/, '$&.');
  return `could not be packed: ${cause} The files are still in ${workspace} on the machine that runs jobs: copy them from there, or remove the cause and submit the job again.`;
}

function note(sentence: string): ServiceEvent {
  return { type: 'log', data: { stream: 'stderr', text: `farwharf: ${sentence}\n` } };
}

function named(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMED;
  const shown = paths
    .slice(0, MAX_NAMED)
    .map((path) => (path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path));
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
