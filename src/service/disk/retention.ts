import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/log.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { ExpiryTable } from '../store/jobs/expiry.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import { keptResults } from './diskUsage.ts';
import { DAY_MS } from './retentionPlan.ts';
import type { RetentionSettings } from '../config/configSections.ts';

const PAGE = 100;
// Lets the service respond to requests between two steps.
const PAUSE_MS = 5;

export interface RetentionContext {
  readonly expiry: ExpiryTable;
  readonly files: JobFiles;
  readonly log: Logger;
  readonly settings: RetentionSettings;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface Removed {
  /** Jobs whose results were too old. */
  readonly results: number;
  /** Jobs whose results were deleted because all results together were too large. */
  readonly overflow: number;
  /** Jobs whose logs were deleted. */
  readonly logs: number;
  /** Bytes of the remaining results. */
  readonly resultsBytes: number;
}

/**
 * Deletes what is older than the settings allow, and the oldest results if all together are too large. It can be interrupted
 * after each of its small steps, and then continues with the next call.
 *
 * @throws the signal's reason on abort, or the database's error.
 */
export async function removeExpired(context: RetentionContext): Promise<Removed> {
  const { settings, now } = context;
  const { days, results_days: resultsDays = days, max_total_gb: maxGb } = settings;
  const results = resultsDays === undefined ? 0 : await removeOldResults(context, now - resultsDays * DAY_MS);
  const logs = days === undefined ? 0 : await removeOldLogs(context, days);
  const maxBytes = maxGb === undefined ? Number.POSITIVE_INFINITY : maxGb * 1e9;
  return { results, logs, ...(await removeOverflow(context, maxBytes)) };
}

async function removeOldResults(context: RetentionContext, endedBefore: number): Promise<number> {
  const next = (): readonly StoredJob[] => context.expiry.withFiles(endedBefore, PAGE);
  return forEachPage(context, next, (job) => removeFiles(context, job));
}

async function removeOldLogs(context: RetentionContext, days: number): Promise<number> {
  const { expiry, now, signal } = context;
  const next = (): readonly StoredJob[] => expiry.withEvents(now - days * DAY_MS, PAGE);
  return forEachPage(context, next, async (job) => {
    const note = `the log was deleted: the service stores logs for ${showDays(days)} after the end of a job.`;
    while (expiry.removeEvents(job, note, now)) await sleep(PAUSE_MS, undefined, { signal });
  });
}

/** Adds up results, newest first, and deletes those beyond the limit. */
async function removeOverflow(
  context: RetentionContext,
  maxBytes: number,
): Promise<Pick<Removed, 'overflow' | 'resultsBytes'>> {
  let resultsBytes = 0;
  let overflow = 0;
  for await (const { job, bytes } of keptResults(context.expiry, context.files)) {
    context.signal.throwIfAborted();
    if (resultsBytes + bytes <= maxBytes) {
      resultsBytes += bytes;
      continue;
    }
    await removeFiles(context, job);
    overflow += 1;
  }
  return { overflow, resultsBytes };
}

async function forEachPage(
  { signal }: RetentionContext,
  next: () => readonly StoredJob[],
  visit: (job: StoredJob) => Promise<void>,
): Promise<number> {
  let count = 0;
  for (;;) {
    const page = next();
    if (page.length === 0) return count;
    for (const job of page) {
      signal.throwIfAborted();
      await visit(job);
      count += 1;
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

async function removeFiles({ expiry, files, log, now }: RetentionContext, job: StoredJob): Promise<void> {
  expiry.noteFilesRemoved(job, now);
  try {
    await files.remove(job.id);
  } catch (error) {
    // The next start tries again.
    log.warn('files of a job could not be deleted', { jobId: job.id, error });
  }
}

function showDays(days: number): string {
  return days === 1 ? 'a day' : `${Number(days.toPrecision(3))} days`;
}
