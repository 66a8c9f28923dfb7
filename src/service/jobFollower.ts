import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Executor } from './executor.ts';
import { endingOf, unreportedEnding } from './jobEnding.ts';
import { removeUnneeded } from './jobFiles.ts';
import { readExit, readStarted } from './markers.ts';
import { readOutput } from './outputReader.ts';
import { collectResults } from './results.ts';
import type { JobFolder } from './runner/jobFolder.ts';
import type { ServiceEvent } from './store/events.ts';
import type { Ending, StoredJob } from './store/jobs.ts';
import type { Store } from './store/store.ts';

const POLL_MS = 40;
// Asking whether a runner lives starts a process on some systems.
const LIVENESS_POLL_MS = 1_000;
const MAX_NAMED = 5;

export interface FollowContext {
  readonly store: Store;
  readonly executor: Executor;
  readonly log: Logger;
}

/**
 * Brings what a job's runner reports into the store until the job has ended. It can be broken off and begun again at any
 * point, in another process too: how far it got is in the store, and every step can be repeated.
 *
 * @throws the signal's reason on abort; the runner goes on.
 */
export async function followRunner(
  jobId: string,
  folder: JobFolder,
  context: FollowContext,
  signal: AbortSignal,
): Promise<void> {
  let nextLivenessCheck = 0;
  for (;;) {
    let isGone = false;
    if (performance.now() >= nextLivenessCheck) {
      isGone = !(await context.executor.isRunning(folder));
      nextLivenessCheck = performance.now() + LIVENESS_POLL_MS;
    }
    // Read after the question whether the runner lives: its report is there before it ends.
    const exit = await readExit(folder.exit);
    await noteStart(jobId, folder, context.store);
    await drainOutput(jobId, folder, context.store, signal);
    const job = context.store.jobs.get(jobId);
    if (job === undefined || job.finishedAt !== null) return;
    if (exit !== undefined) return finishJob(job, folder, endingOf(job, exit), context, signal);
    if (isGone) {
      await context.executor.cleanUp(folder, jobId);
      const facts = { hasStarted: job.startedAt !== null, isCancelled: existsSync(folder.cancel) };
      return finishJob(job, folder, unreportedEnding(facts, Date.now()), context, signal);
    }
    await sleep(POLL_MS, undefined, { signal });
  }
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
  let reason = ending.reason;
  try {
    const { files, leftOut } = await collectResults(folder, signal);
    events.push(...files.map((data): ServiceEvent => ({ type: 'artifact', data })));
    if (leftOut.length > 0)
      events.push(
        note(`Links, special files and names that not every system knows are not sent back: ${named(leftOut)}.`),
      );
  } catch (error) {
    signal.throwIfAborted();
    context.log.error('results could not be packed', { jobId: job.id, error });
    const failure = `The results could not be packed: ${messageOf(error)} They lie in ${folder.workspace} on the machine that runs jobs.`;
    events.push(note(failure));
    reason = reason === null ? failure : `${reason} ${failure}`;
  }
  context.store.finish(job, { ...ending, reason }, events);
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
  if (started !== undefined) store.setState(job, 'running', started.at);
}

async function drainOutput(jobId: string, folder: JobFolder, store: Store, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const page = await readOutput(folder.output, store.jobs.get(jobId)?.logOffset ?? 0);
    if (page === undefined) return;
    store.appendLog(jobId, page.texts, page.offset);
  }
}

function note(sentence: string): ServiceEvent {
  return { type: 'log', data: { stream: 'stderr', text: `farwharf: ${sentence}\n` } };
}

function named(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMED;
  return paths.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
