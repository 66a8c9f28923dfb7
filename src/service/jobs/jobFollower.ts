import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { ABOUT_RESULTS } from '../../remote/protocol/schemas.ts';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { formatBytes } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { LOCAL_ACCOUNT } from '../store/accounts/accountTable.ts';
import type { Executor, OwnedJob, RunnerEnding, RunnerStatus } from '../executor/executor.ts';
import { endingOf, endingWithoutResults, explainedEnding, mayHaveBeenEnded, unreportedEnding } from './jobEnding.ts';
import { type JobFiles, removeRun, removeUnneeded } from '../jobFiles/jobFiles.ts';
import { hasStarted, noteExternalId, noteStart, noteWaiting, readReport } from './runnerProgress.ts';
import { type FollowPace, JobWatch } from './jobWatch.ts';
import { type DiskWatch, MAX_ROOM_WAITS } from '../disk/diskWatch.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { readOutputPage } from './outputReader.ts';
import { noteOverdue, overdueEnding, OverdueWatch } from './overdue.ts';
import type { ResultPieces } from '../contents/resultPieces.ts';
import type { WaitingContents } from '../contents/waitingContents.ts';
import type { JobSecrets } from './jobSecrets.ts';
import { type CollectedResults, collectResults, type ResultLimits } from './jobResults.ts';
import { verifiedTimes } from './verifiedTime.ts';
import { askForEnd, type JobFolder, noteIncomplete } from '../jobFiles/jobFolder.ts';
import { type ServiceEvent, serviceLine } from '../store/jobs/eventTable.ts';
import type { Ending, StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';

// Checking whether a runner is alive starts a process on some systems.
const STATUS_POLL_MS = 1_000;
// How long a runner may take to report a job that the service has ended for it.
const REPORT_WAIT_MS = 10_000;
const RETURNED =
  'The cluster or its administrators stopped the job and put it back into the queue. It starts again from its beginning, and only that run is charged.';
const RETURNED_NOTE =
  'The cluster put the job back into the queue. What is above this line is of a run that was stopped.';
const MAX_NAMED = 5;
const MAX_SHOWN = 200;

export interface FollowContext {
  readonly store: Store;
  readonly executor: Executor;
  readonly files: Pick<JobFiles, 'requireThere' | 'makeFolder' | 'remove' | 'withoutPaths'>;
  readonly disk: Pick<DiskWatch, 'untilRoom'>;
  readonly machineClasses: MachineClasses;
  readonly log: Logger;
  readonly pace: FollowPace;
  readonly secrets: JobSecrets;
  readonly waiting: Pick<WaitingContents, 'has' | 'read' | 'remove'>;
  readonly resultPieces: Pick<ResultPieces, 'note'>;
  /** The limit for the results of one job. */
  readonly maxResultBytes: number;
  /** Time between the signal to end and the kill. */
  readonly killGraceMs: number;
}

/**
 * Copies what a job's runner reports to the store until the job has ended. It can be interrupted and restarted at any point,
 * even in another process: its progress is in the store, and every step can be repeated.
 *
 * @returns whether the job has ended; false if its runner must be launched again.
 * @throws the signal's reason on abort; the runner continues. AppError `unreachable` while the files of jobs are.
 */
export async function followRunner(
  owned: OwnedJob,
  folder: JobFolder,
  context: FollowContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { id: jobId } = owned;
  const { store, executor } = context;
  const { isLocal } = executor;
  using watch = new JobWatch(folder.path, { pace: context.pace, isLocal });
  let status: RunnerStatus = { state: 'running' };
  let nextStatus = 0;
  let lastSeen: number | undefined;
  let startSeen: number | undefined;
  let isStarted = hasStarted(jobId, store);
  const overdue = new OverdueWatch(
    store.jobs.get(jobId) ?? { maxRuntime: Number.POSITIVE_INFINITY },
    context.killGraceMs,
    executor.isLocal,
  );
  let nextEnd = 0;
  let endedAt: number | undefined;
  const wasEnded = (): boolean => endedAt !== undefined || existsSync(folder.overdue);
  const output = { jobId, path: folder.output, offset: store.jobs.get(jobId)?.logOffset ?? 0 };
  for (;;) {
    if (performance.now() >= nextStatus) {
      // The time before the request: by the time of the response, a runner that was alive may have been dead for a while.
      const askedAt = Date.now();
      status = await executor.status(owned, folder);
      nextStatus = performance.now() + STATUS_POLL_MS;
      noteExternalId(owned, context);
      if (status.state === 'running') lastSeen = askedAt;
      // Without its files, a job seems not to have started, or to have reported nothing.
      else context.files.requireThere();
    }
    if (status.state === 'waiting') {
      if (noteWaiting(jobId, status.reason, store)) return true;
      isStarted = hasStarted(jobId, store);
      await sleep(STATUS_POLL_MS, undefined, { signal });
      continue;
    }
    if (status.state === 'absent') return store.jobs.get(jobId)?.finishedAt !== null;
    // Read after the status, because a runner reports before it ends.
    const report = await readReport(jobId, folder, executor);
    if (!isStarted && (await noteStart(jobId, folder, context))) {
      isStarted = true;
      startSeen = performance.now();
    }
    const hasNews = await drainOutput(output, { store, isLocal }, signal);
    const job = store.jobs.get(jobId);
    if (job === undefined || job.finishedAt !== null) return true;
    const isCancelled = existsSync(folder.cancel);
    if (status.state === 'returned') {
      // A script that ended by itself just before that is over.
      const isOver = report.type === 'report' && !mayHaveBeenEnded(report.exit);
      if (!isOver && !isCancelled && canStartAgain(job, context)) {
        store.requeue(job, RETURNED, RETURNED_NOTE);
        await executor.takeBack?.(owned, folder);
        await removeRun(folder);
        return false;
      }
      if (!isOver) status = { state: 'gone', ending: endingOfReturned(isCancelled) };
    }
    if (report.type === 'report') {
      const { exit } = report;
      // The executor may know who ended the job, but only later. On this machine only the runner would know.
      const isAsked = !isCancelled && !wasEnded() && (isLocal ? exit.outcome === 'stopped' : mayHaveBeenEnded(exit));
      if (!isAsked || status.state === 'gone') {
        const known = isAsked && status.state === 'gone' && status.ending?.isCause === true ? status.ending : undefined;
        const own = endingOf(job, exit, { ...context, isCancelled });
        await finishJob(job, folder, explainedEnding(own, known), context, signal);
        return true;
      }
    } else if (report.type === 'forged') {
      // The charge covers the time that the service itself saw.
      const ending = { state: 'failed', reason: report.reason, isCharged: true, isCause: true } as const;
      await endUnreported(job, folder, { state: 'gone', ending, lastSeen, startSeen }, context, signal);
      return true;
    } else {
      const state = await overdue.check(folder, { isCancelled, holdSeconds: job.holdSeconds });
      const isGone = status.state === 'gone';
      if (state !== undefined && !isGone && performance.now() >= nextEnd) {
        if (state === 'timed_out') noteOverdue(folder);
        if (await executor.endNow(owned, folder)) endedAt ??= performance.now();
        nextEnd = performance.now() + STATUS_POLL_MS;
      }
      const isSilent = endedAt !== undefined && performance.now() - endedAt > REPORT_WAIT_MS;
      if (isGone || isSilent) {
        const ended = wasEnded() && state !== undefined ? { ending: overdueEnding(state) } : {};
        const seen = { ...status, ...ended, state: 'gone' as const, lastSeen, startSeen };
        await endUnreported(job, folder, seen, context, signal);
        return true;
      }
    }
    await watch.next({ hasNews, signal });
  }
}

/** Whether what the workspace of a job is written from is still there: an earlier version has removed it when the job started. */
function canStartAgain({ number }: StoredJob, { store, executor }: FollowContext): boolean {
  return executor.takeBack !== undefined && store.workspaces.get(number) !== undefined;
}

/** The end of a job that the cluster has put back into its queue, and that does not start again. */
function endingOfReturned(isCancelled: boolean): RunnerEnding {
  const by = 'The cluster or its administrators stopped the job and put it back into the queue';
  const reason = `${by}, which is not the job's fault: submit it again. Nothing was charged.`;
  return { state: isCancelled ? 'cancelled' : 'failed', reason, isCharged: false, isCause: true };
}

async function endUnreported(
  job: StoredJob,
  folder: JobFolder,
  { ending: known, ...seen }: RunnerStatus & { state: 'gone' } & Record<'lastSeen' | 'startSeen', number | undefined>,
  context: FollowContext,
  signal: AbortSignal,
): Promise<void> {
  // If the runner is on a node and only seems to be gone, it stops when it sees this.
  const isCancelled = existsSync(folder.cancel);
  context.files.makeFolder(job.id); // a job that is not isolated can have removed it
  askForEnd(folder);
  await context.executor.cleanUp(job, folder);
  const now = Date.now();
  const { machineClasses } = context;
  const facts = { machineClasses, isCancelled, verified: await verifiedTimes(job, folder, { ...seen, now }) };
  const own = unreportedEnding(job, facts, now);
  await finishJob(job, folder, mergeEndings(own, known, isCancelled), context, signal);
}

/** The service's own ending if the executor knows none, or only that it cancelled the job on request. */
function mergeEndings(own: Ending, known: RunnerEnding | undefined, isCancelled: boolean): Ending {
  if (known === undefined || own.state === 'cancelled') return own;
  if (isCancelled && known.state === 'cancelled') return { ...own, state: 'cancelled', reason: null };
  return explainedEnding(own, known);
}

/** Packs the results, ends the job in the store, and deletes the files that are no longer needed. */
export async function finishJob(
  job: StoredJob,
  folder: JobFolder,
  ending: Ending,
  context: FollowContext,
  signal: AbortSignal,
): Promise<void> {
  const events: ServiceEvent[] = [];
  let final = ending;
  const redactor = await context.secrets.redactorFor(job, folder);
  const clean = (text: string): string => {
    const shown = context.files.withoutPaths(text, job);
    return redactor?.redact(shown) ?? shown;
  };
  const isRemoved = (): boolean => context.store.jobs.get(job.id)?.filesRemovedAt !== null;
  if (isRemoved()) return finishRemoved(job, ending, context);
  try {
    const limits = {
      maxBytes: context.maxResultBytes,
      isSecret: (path: string) => clean(path) !== path,
      redaction: context.secrets.resultRedactionFor(job),
    };
    const collect = () => collectOnDisk(folder, limits, signal);
    const { files, leftOut, tooLarge, unreadable, redacted, records } = await whileRoomComes(
      collect,
      job,
      context,
      signal,
    );
    if (unreadable.length > 0) context.files.requireThere();
    if (unreadable.length > 0 && isRemoved()) return await finishRemoved(job, ending, context);
    if (records !== undefined) context.resultPieces.note(job.id, records);
    // One by one, because hundreds of thousands of arguments in one call overflow the stack.
    for (const data of files) events.push({ type: 'artifact', data });
    if (leftOut.length > 0)
      events.push(
        note(
          `Links, special files, unreadable files, names that are not valid UTF-8 and names with secrets are not returned: ${named(leftOut.map(clean))}.`,
          ABOUT_RESULTS,
        ),
      );
    if (redacted.length > 0) events.push(note(`Secrets were removed from ${named(redacted)}.`, ABOUT_RESULTS));
    if (tooLarge.length > 0 || unreadable.length > 0) {
      const missing = [tooLargeOnes(tooLarge, context.maxResultBytes), unreadableOnes(unreadable)].flat().join('; ');
      const problem = clean(`are incomplete: ${missing}. ${keptWhere(job, folder)}`);
      events.push(note(`The results ${problem}`, ABOUT_RESULTS));
      final = endingWithoutResults(job, ending, problem);
    }
  } catch (error) {
    signal.throwIfAborted();
    context.files.requireThere();
    if (isRemoved()) return finishRemoved(job, ending, context);
    context.log.error('results could not be packed', { jobId: job.id, error });
    // If the archive may not be on disk, the workspace must not be deleted.
    await rm(folder.results, { recursive: true, force: true }).catch(() => {});
    const problem = clean(unpacked(error, folder, keptWhere(job, folder)));
    events.push(note(`The results ${problem}`, ABOUT_RESULTS));
    final = endingWithoutResults(job, ending, problem);
  }
  const reason = final.reason === null ? null : clean(final.reason);
  context.store.finish(job, { ...final, reason }, events);
  try {
    await removeUnneeded(folder, job);
    await context.waiting.remove(job.id);
  } catch (error) {
    context.log.warn('files of a job could not be deleted', { jobId: job.id, error });
  }
}

/** Packs the results, and makes sure that they are on the disk, because the workspace is deleted next. */
async function collectOnDisk(folder: JobFolder, limits: ResultLimits, signal: AbortSignal): Promise<CollectedResults> {
  const collected = await collectResults(folder, limits, signal);
  if (collected.tooLarge.length > 0 || collected.unreadable.length > 0) noteIncomplete(folder);
  await syncFile(folder.results);
  await syncFolder(folder.path);
  return collected;
}

/** Tries again on a full disk, once it has room. */
async function whileRoomComes<T>(
  attempt: () => Promise<T>,
  job: StoredJob,
  { disk }: FollowContext,
  signal: AbortSignal,
): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isFull = isDiskFull(error) || (error instanceof AppError && error.code === 'no-space');
      if (!isFull || waits === MAX_ROOM_WAITS || !(await disk.untilRoom(job, signal))) throw error;
    }
  }
}

/** Ends a job whose files the service removes to free the disk. */
async function finishRemoved(
  job: StoredJob,
  ending: Ending,
  { store, files, waiting, log }: FollowContext,
): Promise<void> {
  store.finish(job, ending, []);
  try {
    await files.remove(job.id);
    await waiting.remove(job.id);
  } catch (error) {
    log.warn('files of a job could not be deleted', { jobId: job.id, error });
  }
}

/** Copies new output to the store, and moves the offset. @returns whether there was any. */
async function drainOutput(
  output: { readonly jobId: string; readonly path: string; offset: number },
  { store, isLocal }: { readonly store: Store; readonly isLocal: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  for (let pages = 0; ; pages += 1) {
    signal.throwIfAborted();
    const page = await readOutputPage(output.path, output.offset, isLocal);
    if (page === undefined) return pages > 0;
    await store.appendOutput(output.jobId, page.events, page.offset);
    output.offset = page.offset;
    if (page.isAll) return true;
  }
}

/** Why results were not packed, and where they are. */
function unpacked(error: unknown, { workspace }: JobFolder, where: string): string {
  if (!existsSync(workspace)) return 'could not be packed, because the files of the job were removed.';
  const cause = messageOf(error).replace(/[^.]$/, '$&.');
  return `could not be packed: ${cause} ${where}`;
}

/** Which results were not packed, because there were too many bytes. */
function tooLargeOnes(files: CollectedResults['tooLarge'], maxBytes: number): string[] {
  if (files.length === 0) return [];
  const names = named(files.map(({ path, size }) => `${path} (${formatBytes(size)})`));
  return [
    `${names} ${files.length === 1 ? 'was' : 'were'} left out, because the results of one job can have ${formatBytes(maxBytes)}`,
  ];
}

/** Which results could not be packed, each with the reason. */
function unreadableOnes(files: CollectedResults['unreadable']): string[] {
  if (files.length === 0) return [];
  return [`${named(files.map(({ path, why }) => `${path} (${why})`))} could not be read when the results were packed`];
}

/** Where the files of a job are that were not packed. Only the operator learns paths of the service. */
function keptWhere({ id, account }: StoredJob, { workspace }: JobFolder): string {
  return account === LOCAL_ACCOUNT
    ? `The files are still in ${workspace} on the machine that runs jobs: copy them from there, or fix the cause and submit the job again.`
    : `The files are still on the machine that runs jobs, where its operator finds them with: farwharf admin job ${id}. Ask for them, or fix the cause and submit the job again.`;
}

function note(sentence: string, about?: typeof ABOUT_RESULTS): ServiceEvent {
  return { type: 'log', data: serviceLine(sentence, about) };
}

function named(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMED;
  const shown = paths
    .slice(0, MAX_NAMED)
    .map((path) => printableLine(path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path));
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
