import type { DatabaseSync } from 'node:sqlite';
import { Emitter } from '../../../core/processes/lifetime.ts';
import { inTransaction } from '../database/database.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';
import { serviceLine } from './eventTable.ts';
import { type StoredJob, toJob } from './jobTable.ts';

// Rows per step, which takes a few milliseconds, so that the service can respond to requests in between.
const STEP_ROWS = 500;

/** A position in the ended jobs, which are ordered by their end, then by number. */
export interface ExpiryCursor {
  readonly finishedAt: number;
  readonly number: number;
}

const WITH_FILES = 'SELECT * FROM jobs WHERE finished_at IS NOT NULL AND files_removed_at IS NULL';
const WITH_EVENTS = 'SELECT * FROM jobs WHERE finished_at IS NOT NULL AND events_removed_at IS NULL';
const DELETABLE = "job = ? AND type NOT IN ('state', 'end')";
const SQL = {
  withFiles: `${WITH_FILES} AND finished_at < ? ORDER BY finished_at LIMIT ?`,
  newestWithFiles: `${WITH_FILES} AND (finished_at, number) < (?, ?) ORDER BY finished_at DESC, number DESC LIMIT ?`,
  withEvents: `${WITH_EVENTS} AND finished_at < ? ORDER BY finished_at LIMIT ?`,
  countLogs:
    'SELECT count(*) AS count FROM jobs WHERE finished_at IS NOT NULL AND events_removed_at IS NULL AND finished_at < ?',
  markFiles: 'UPDATE jobs SET files_removed_at = ? WHERE number = ?',
  markEvents: 'UPDATE jobs SET events_removed_at = ? WHERE number = ?',
  firstEvent: `SELECT min(id) AS id FROM events WHERE ${DELETABLE}`,
  replaceEvent: "UPDATE events SET type = 'log', data = ? WHERE job = ? AND id = ?",
  removeEvents: `DELETE FROM events WHERE job = ? AND id IN (SELECT id FROM events WHERE ${DELETABLE} AND id > ? LIMIT ${STEP_ROWS})`,
};

/** Finds and deletes the files and logs of ended jobs. Each method that writes is one durable transaction; the rows of jobs stay. */
export class ExpiryTable {
  readonly #database: DatabaseSync;
  readonly #sql: Statements<typeof SQL>;
  readonly #eventsRemoved = new Emitter<number>();
  #pauses = 0;
  /** Fires with a job's number after some of its events were deleted. */
  readonly onDidRemoveEvents = this.#eventsRemoved.event;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepareAll(database, SQL);
  }

  /** Finds no files to delete until the result is disposed. Several pauses can overlap. */
  pause(): Disposable {
    this.#pauses += 1;
    return { [Symbol.dispose]: () => void (this.#pauses -= 1) };
  }

  /** Jobs with files that ended before a time, oldest first. */
  withFiles(endedBefore: number, limit: number): readonly StoredJob[] {
    return this.#pauses > 0 ? [] : this.#sql.withFiles.all(endedBefore, limit).map(toJob);
  }

  /** Jobs with files, newest first, after a position. */
  newestWithFiles(from: ExpiryCursor | undefined, limit: number): readonly StoredJob[] {
    const { finishedAt = Number.MAX_SAFE_INTEGER, number = 0 } = from ?? {};
    return this.#pauses > 0 ? [] : this.#sql.newestWithFiles.all(finishedAt, number, limit).map(toJob);
  }

  /** Jobs with a log that ended before a time, oldest first. */
  withEvents(endedBefore: number, limit: number): readonly StoredJob[] {
    return this.#sql.withEvents.all(endedBefore, limit).map(toJob);
  }

  /** How many jobs that ended before a time have a log. */
  countLogs(endedBefore: number): number {
    return Number(this.#sql.countLogs.get(endedBefore)?.['count']);
  }

  /** Must be called before the files are deleted, so that the next start deletes what a crash leaves of them. */
  noteFilesRemoved({ number }: StoredJob, at: number): void {
    this.#sql.markFiles.run(at, number);
  }

  /**
   * Deletes some of a job's events, except those of its states and its end. The last step replaces the first of them with `note`.
   * Each step is short.
   *
   * @returns whether there is more to delete.
   */
  removeEvents({ number }: StoredJob, note: string, at: number): boolean {
    const hasMore = inTransaction(this.#database, () => {
      const first = Number(this.#sql.firstEvent.get(number)?.['id'] ?? 0);
      const { changes } = this.#sql.removeEvents.run(number, number, first);
      if (changes === STEP_ROWS) return true;
      if (first > 0) this.#sql.replaceEvent.run(JSON.stringify(serviceLine(note)), number, first);
      this.#sql.markEvents.run(at, number);
      return false;
    });
    this.#eventsRemoved.fire(number);
    return hasMore;
  }
}
