import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/columns.ts';

/** A change of an account's credits: a grant, credits that were taken back, or the charge for a job. */
const COLUMNS = {
  at: integer('at'),
  kind: text<'grant' | 'top-up' | 'job'>('kind'),
  /** Micro-credits; negative for credits that were taken back or spent. */
  amount: integer('amount'),
  /** Of the grant; for a job its ID. */
  reference: text('reference'),
  note: nullable(text('note')),
};
export type BookEntry = RecordOf<typeof COLUMNS>;
const toEntry = rowReader(COLUMNS);

/** Reads the credit ledger as a person would: without holds, which are returned when a job is paid. */
export class CreditBook {
  readonly #entries: StatementSync;

  constructor(database: DatabaseSync) {
    this.#entries = database.prepare(
      `SELECT at, iif(kind = 'settle', 'job', kind) AS kind, reference, note,
          coalesce(sum(iif(kind = 'settle', -amount, amount)), 0) AS amount FROM credit_transactions AS transactions
        LEFT JOIN credit_entries AS entries ON transaction_id = id
          AND entries.account = transactions.account || iif(kind = 'settle', ':spent', ':available')
        WHERE transactions.account = ? AND kind <> 'hold' GROUP BY id ORDER BY id DESC LIMIT ?`,
    );
  }

  /** The last entries of an account, newest first. */
  entries(account: string, limit: number): readonly BookEntry[] {
    return this.#entries.all(account, limit).map(toEntry);
  }
}
