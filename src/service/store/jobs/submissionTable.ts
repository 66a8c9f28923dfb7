import type { DatabaseSync } from 'node:sqlite';
import { integer, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { type Insert, inserter, prepareAll, type Statements } from '../database/sqlStatements.ts';

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

const SQL = {
  find: 'SELECT * FROM submissions WHERE account = ? AND idempotency_key = ?',
  forget: 'DELETE FROM submissions WHERE created_at < ?',
};

/** Accepted submissions by key, so that a repeated one gets the same response. Methods that write expect the caller's transaction. */
export class SubmissionTable {
  readonly #sql: Statements<typeof SQL>;
  readonly insert: Insert<typeof COLUMNS>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
    this.insert = inserter(database, 'INSERT INTO submissions', COLUMNS);
  }

  find(account: string, key: string): StoredSubmission | undefined {
    const row = this.#sql.find.get(account, key);
    return row && toSubmission(row);
  }

  /** Forgets the keys of submissions that were accepted before `time`; their jobs stay. */
  forget(time: number): void {
    this.#sql.forget.run(time);
  }
}
