import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/log.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { ExpiryTable } from '../store/jobs/expiry.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';
import { keptResults } from './diskUsage.ts';
import type { RetentionSettings } from '../config/sections.ts';

const DAY_MS = 24 * 60 * 60_000;
const PAGE = 100;
// Between two steps the service answers whoever waits.
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
  /** Jobs whose results were removed because of their age. */
  readonly results: number;
  /** Jobs whose results were removed because all together took too much. */
  readonly overflow: number;
  /** Jobs whose logs were removed. */
  readonly logs: number;
  /** What the results that stay take, in bytes. */
  readonly resultsBytes: number;
}

/**
 * Removes what is older than the settings allow, and the oldest results where all take too much. It goes in small steps, can
 * be broken off at any of them, and begins again where it was.
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
    const note = `the log was removed, as the service keeps logs for ${showDays(days)} after the end of a job.`;
    while (expiry.removeEvents(job, note, now)) await sleep(PAUSE_MS, undefined, { signal });
  });
}

/** Adds up what the results take, the newest first, and removes those that come after the limit is reached. */
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
    log.warn('files of a job could not be removed', { jobId: job.id, error });
  }
}

function showDays(days: number): string {
  return days === 1 ? 'a day' : `${Number(days.toPrecision(3))} days`;
}
