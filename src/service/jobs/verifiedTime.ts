import { lstat } from 'node:fs/promises';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';

/**
 * Seconds that a job verifiably ran whose runner is gone without a report: from its start, as the service noted it, to the
 * last time that the service saw the runner alive or that the runner gave a sign of life in the job's folder, whichever is
 * later. Never more than until now, and never more than the job's time limit. An isolated job reaches neither its runner nor the file
 * with the sign of life; one that is not isolated could make that older, and never what the service saw.
 *
 * @param lastSeen when the service last saw the runner alive; undefined where it never did.
 */
export async function verifiedSeconds(
  { startedAt, maxRuntime }: Pick<StoredJob, 'startedAt' | 'maxRuntime'>,
  folder: Pick<JobFolder, 'started'>,
  { lastSeen = 0, now }: { readonly lastSeen?: number | undefined; readonly now: number },
): Promise<number> {
  if (startedAt === null) return 0;
  const heartbeat = await lstat(folder.started).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const lastSign = Math.min(now, Math.max(lastSeen, heartbeat));
  return Math.min(maxRuntime, Math.max(0, lastSign - startedAt) / 1000);
}
