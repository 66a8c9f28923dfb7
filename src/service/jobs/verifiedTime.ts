import { lstat } from 'node:fs/promises';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { latestProgram } from '../jobFiles/markers.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';

interface SignsOfLife {
  readonly lastSeen?: number | undefined;
  readonly startSeen?: number | undefined;
  readonly now: number;
}

/**
 * Seconds that a job verifiably ran if its runner is gone without a report: from the start that the service stored, or that of the program
 * that installs its packages, to the last time that the runner was alive, but not beyond now and the job's time limit. That time is when the service last saw the runner, or the runner's
 * heartbeat in the job's folder, whichever is later. An isolated job can reach neither the runner nor the heartbeat file. One that is not
 * isolated can make the file older, but cannot change what the service saw.
 *
 * @param lastSeen when the service last saw the runner alive; undefined if it never did.
 * @param startSeen when the service saw the job start, by `performance.now()`; undefined if an earlier service did. A clock that is set meanwhile adds no
 * time then.
 */
export async function verifiedSeconds(
  { startedAt, maxRuntime }: Pick<StoredJob, 'startedAt' | 'maxRuntime'>,
  folder: Pick<JobFolder, 'started' | 'installing'>,
  { lastSeen = 0, startSeen = -Infinity, now }: SignsOfLife,
): Promise<number> {
  const program = await latestProgram(folder);
  const since = startedAt ?? program?.at;
  if (since === undefined) return 0;
  const heartbeat = await lstat(startedAt === null ? folder.installing : folder.started).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const lastSign = Math.min(now, Math.max(lastSeen, heartbeat));
  const passed = Math.min(performance.now() - startSeen, lastSign - since);
  return Math.min(maxRuntime, (program?.usedSeconds ?? 0) + Math.max(0, passed) / 1000);
}
