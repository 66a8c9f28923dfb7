import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RetentionSettings } from '../config/configSections.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { ExpiryTable } from '../store/jobs/expiry.ts';
import { keptResults } from './diskUsage.ts';

export const DAY_MS = 24 * 60 * 60_000;
const JOBS_PER_TURN = 200;

/** Some jobs, and the bytes of their results. */
interface Amount {
  readonly jobs: number;
  readonly bytes: number;
}

/** What settings delete, by rule. Every amount is of jobs that have results or a log. */
export interface RetentionPlan {
  readonly stored: Amount;
  readonly storedLogs: number;
  /** Results older than `results_days`. */
  readonly expired: Amount;
  /** The oldest results beyond `max_total_gb`. */
  readonly overflow: Amount;
  /** Jobs with logs older than `days`. */
  readonly logs: number;
}

/** What new settings delete out of `kept`, which the earlier settings would have kept. */
export interface Stricter {
  readonly results: Amount;
  readonly logs: number;
  readonly kept: Amount;
  readonly keptLogs: number;
}

export interface PlanContext {
  readonly expiry: Pick<ExpiryTable, 'newestWithFiles' | 'countLogs'>;
  readonly files: JobFiles;
}

/** Adds up what `removeExpired` would delete with these settings at `now` (milliseconds since 1970). */
export async function planRetention(
  context: PlanContext,
  settings: RetentionSettings,
  now: number,
): Promise<RetentionPlan> {
  const decide = decider(settings, now);
  const sums = { stored: new Sum(), expired: new Sum(), overflow: new Sum() };
  for await (const { endedAt, bytes } of stored(context)) {
    sums.stored.add(bytes);
    const rule = decide(endedAt, bytes);
    if (rule !== undefined) sums[rule].add(bytes);
  }
  const { expiry } = context;
  return {
    ...sums,
    storedLogs: expiry.countLogs(Number.MAX_SAFE_INTEGER),
    logs: expiry.countLogs(logsBefore(settings, now)),
  };
}

/** Compares what two settings would delete at `now`, leaving out what both delete. */
export async function compareRetention(
  context: PlanContext,
  {
    before,
    after,
    now,
  }: { readonly before: RetentionSettings; readonly after: RetentionSettings; readonly now: number },
): Promise<Stricter> {
  const decide = { before: decider(before, now), after: decider(after, now) };
  const [results, kept] = [new Sum(), new Sum()];
  for await (const { endedAt, bytes } of stored(context)) {
    const isRemoved = decide.after(endedAt, bytes) !== undefined;
    if (decide.before(endedAt, bytes) !== undefined) continue;
    kept.add(bytes);
    if (isRemoved) results.add(bytes);
  }
  const count = (settings: RetentionSettings): number => context.expiry.countLogs(logsBefore(settings, now));
  const goneBefore = count(before);
  return {
    results,
    kept,
    logs: Math.max(0, count(after) - goneBefore),
    keptLogs: context.expiry.countLogs(Number.MAX_SAFE_INTEGER) - goneBefore,
  };
}

class Sum implements Amount {
  jobs = 0;
  bytes = 0;

  add(bytes: number): void {
    this.jobs += 1;
    this.bytes += bytes;
  }
}

/** Jobs with results, newest first. */
async function* stored({ expiry, files }: PlanContext): AsyncGenerator<{ endedAt: number; bytes: number }> {
  let count = 0;
  for await (const { job, bytes } of keptResults(expiry, files)) {
    if (++count % JOBS_PER_TURN === 0) await nextTurn();
    // Results that could not be packed are still in the workspace.
    if (bytes > 0 || existsSync(files.folder(job.id).workspace)) yield { endedAt: job.finishedAt ?? 0, bytes };
  }
}

/** The rule that deletes a job's results, if one does. Must be called for all jobs with results, newest first. */
function decider(
  { days, results_days: resultsDays = days, max_total_gb: maxGb }: RetentionSettings,
  now: number,
): (endedAt: number, bytes: number) => 'expired' | 'overflow' | undefined {
  const before = resultsDays === undefined ? Number.NEGATIVE_INFINITY : now - resultsDays * DAY_MS;
  const maxBytes = maxGb === undefined ? Number.POSITIVE_INFINITY : maxGb * 1e9;
  let total = 0;
  return (endedAt, bytes) => {
    if (endedAt < before) return 'expired';
    if (total + bytes > maxBytes) return 'overflow';
    total += bytes;
    return undefined;
  };
}

function logsBefore({ days }: RetentionSettings, now: number): number {
  return days === undefined ? 0 : now - days * DAY_MS;
}
