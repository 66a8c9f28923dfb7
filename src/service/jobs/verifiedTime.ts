import { lstat } from 'node:fs/promises';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { latestProgram } from '../jobFiles/markers.ts';
import { frozenSince, type StoredJob } from '../store/jobs/jobTable.ts';

interface SignsOfLife {
  readonly lastSeen?: number | undefined;
  readonly startSeen?: number | undefined;
  readonly now: number;
}

export interface VerifiedTimes {
  readonly ranSeconds: number;
  /** Beside that. */
  readonly frozenSeconds: number;
}

/**
 * How long a job verifiably ran and was frozen if its runner is gone without a report: from the start that the service stored, or that of the program
 * that installs its packages, to the last time that the runner was alive, but not beyond now and the job's time limit. That time is when the service last saw the runner, or the runner's
 * heartbeat in the job's folder, whichever is later. An isolated job can reach neither the runner nor the heartbeat file. One that is not
 * isolated can make the file older, but cannot change what the service saw. It was frozen for as long as its runner said, and its hold time allows.
 *
 * @param lastSeen when the service last saw the runner alive; undefined if it never did.
 * @param startSeen when the service saw the job start, by `performance.now()`; undefined if an earlier service did. A clock that is set meanwhile adds no
 * time then.
 */
export async function verifiedTimes(
  job: Pick<StoredJob, 'startedAt' | 'maxRuntime' | 'frozen' | 'frozenMs' | 'holdSeconds'>,
  folder: Pick<JobFolder, 'started' | 'installing'>,
  { lastSeen = 0, startSeen = -Infinity, now }: SignsOfLife,
): Promise<VerifiedTimes> {
  const { startedAt, maxRuntime } = job;
  const program = await latestProgram(folder);
  const since = startedAt ?? program?.at;
  if (since === undefined) return { ranSeconds: 0, frozenSeconds: 0 };
  const heartbeat = await lstat(startedAt === null ? folder.installing : folder.started).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const lastSign = Math.min(now, Math.max(lastSeen, heartbeat));
  const passed = Math.max(0, Math.min(performance.now() - startSeen, lastSign - since));
  const frozenMs = (job.frozenMs ?? 0) + Math.max(0, lastSign - (frozenSince(job.frozen) ?? lastSign));
  const frozenSeconds = Math.min(frozenMs, passed, 1000 * (job.holdSeconds ?? 0)) / 1000;
  const ranSeconds = (program?.usedSeconds ?? 0) + passed / 1000 - frozenSeconds;
  return { ranSeconds: Math.min(maxRuntime, ranSeconds), frozenSeconds };
}
