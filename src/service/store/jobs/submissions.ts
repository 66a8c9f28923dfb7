import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { integer, type RecordOf, rowReader, text } from '../database/columns.ts';

/** An accepted submission that had an idempotency key. */
const COLUMNS = {
  account: text('account'),
  key: text('idempotency_key'),
  jobId: text('job'),
  /** Distinguishes the submission from another one with the same key. */
  fingerprint: text('fingerprint'),
  createdAt: integer('created_at'),
  /** Micro-credits that were left after it. */
  creditsRemaining: integer('credits_remaining'),
};
export type StoredSubmission = RecordOf<typeof COLUMNS>;
const toSubmission = rowReader(COLUMNS);

/** Accepted submissions by key, so that a repeated one gets the same response. Methods that write expect the caller's transaction. */
export class SubmissionTable {
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #forget: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT * FROM submissions WHERE account = ? AND idempotency_key = ?');
    this.#insert = database.prepare(
      `INSERT INTO submissions (account, idempotency_key, job, fingerprint, created_at, credits_remaining)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#forget = database.prepare('DELETE FROM submissions WHERE created_at < ?');
  }

  find(account: string, key: string): StoredSubmission | undefined {
    const row = this.#find.get(account, key);
    return row && toSubmission(row);
  }

  insert({ account, key, jobId, fingerprint, createdAt, creditsRemaining }: StoredSubmission): void {
    this.#insert.run(account, key, jobId, fingerprint, createdAt, creditsRemaining);
  }

  /** Forgets the keys of submissions that were accepted before `time`; their jobs stay. */
  forget(time: number): void {
    this.#forget.run(time);
  }
}
