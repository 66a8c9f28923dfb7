import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Something that changed what an account has: credits that it was given or that were taken back, or a job that was paid. */
export interface BookEntry {
  readonly at: number;
  readonly kind: 'grant' | 'top-up' | 'job';
  /** Micro-credits; below zero for what was taken or paid. */
  readonly amount: number;
  /** Of the grant; for a job its id. */
  readonly reference: string;
  readonly note: string | null;
}

/** Reads the credit ledger as a person would: without the holds, which are given back when a job is paid. */
export class CreditBook {
  readonly #entries: StatementSync;

  constructor(database: DatabaseSync) {
    this.#entries = database.prepare(
      `SELECT at, kind, reference, note, coalesce(sum(amount), 0) AS amount FROM credit_transactions AS transactions
        LEFT JOIN credit_entries AS entries ON transaction_id = id
          AND entries.account = transactions.account || iif(kind = 'settle', ':spent', ':available')
        WHERE transactions.account = ? AND kind <> 'hold' GROUP BY id ORDER BY id DESC LIMIT ?`,
    );
  }

  /** The last entries of an account, newest first. */
  entries(account: string, limit: number): readonly BookEntry[] {
    return this.#entries.all(account, limit).map((row) => {
      const isJob = row['kind'] === 'settle';
      const amount = Number(row['amount']);
      return {
        at: Number(row['at']),
        kind: isJob ? 'job' : (String(row['kind']) as 'grant' | 'top-up'),
        amount: isJob ? 0 - amount : amount,
        reference: String(row['reference']),
        note: row['note'] === null ? null : String(row['note']),
      };
    });
  }
}
