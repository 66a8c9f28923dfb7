import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A submission that was accepted under a key of the client's. */
export interface StoredSubmission {
  readonly account: string;
  readonly key: string;
  readonly jobId: string;
  /** Tells a submission apart from another one under the same key. */
  readonly fingerprint: string;
  readonly createdAt: number;
  /** Micro-credits that were left after it. */
  readonly creditsRemaining: number;
}

/** What was accepted under which key, so that the same submission is answered the same way again. Methods that write expect the caller's transaction. */
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
    if (row === undefined) return undefined;
    return {
      account,
      key,
      jobId: String(row['job']),
      fingerprint: String(row['fingerprint']),
      createdAt: Number(row['created_at']),
      creditsRemaining: Number(row['credits_remaining']),
    };
  }

  insert({ account, key, jobId, fingerprint, createdAt, creditsRemaining }: StoredSubmission): void {
    this.#insert.run(account, key, jobId, fingerprint, createdAt, creditsRemaining);
  }

  /** Forgets the keys of submissions that were accepted before `time`; their jobs stay. */
  forget(time: number): void {
    this.#forget.run(time);
  }
}
