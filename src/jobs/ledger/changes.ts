import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type JobRecord, storedRecord } from './record.ts';

// More take longer to send to another thread than reading the first page of the list does.
const MAX_CHANGES = 500;

/** What happened to the jobs since an earlier time. */
export interface LedgerChanges {
  /** Pass it to the next call. */
  readonly number: number;
  /** The jobs that were added or changed, as they are now, each once. */
  readonly changed: readonly JobRecord[];
  /** The IDs of those that were deleted. */
  readonly deleted: readonly string[];
}

/** The implementation of `JobLedger.changesSince`. */
export function readChanges(database: DatabaseSync, number?: number): LedgerChanges | undefined {
  const last = Number(database.prepare('SELECT coalesce(max(number), 0) AS last FROM job_changes').get()?.['last']);
  if (number === undefined) return { number: last, changed: [], deleted: [] };
  if (number > last) return undefined;
  // Up to `last`, because another process may change more in between.
  const rows = database
    .prepare(
      `SELECT job_changes.job, jobs.record FROM job_changes LEFT JOIN jobs ON jobs.id = job_changes.job
       WHERE number > ? AND number <= ? ORDER BY number LIMIT ?`,
    )
    .all(number, last, MAX_CHANGES + 1);
  if (rows.length > MAX_CHANGES) return undefined;
  return {
    number: last,
    changed: rows.filter(({ record }) => record !== null).map(recordOfRow),
    deleted: rows.filter(({ record }) => record === null).map(({ job }) => String(job)),
  };
}

/** The record in a row of the table `jobs`. */
export function recordOfRow(row: Record<string, SQLOutputValue>): JobRecord {
  return storedRecord.parse(JSON.parse(String(row['record'])));
}
