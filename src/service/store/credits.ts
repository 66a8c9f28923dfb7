import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../core/errors.ts';

const MICRO = 1_000_000;
const ISSUED = 'issued';
const AVAILABLE = 'local:available';
const HELD = 'local:held';
const SPENT = 'local:spent';

type Kind = 'grant' | 'top-up' | 'hold' | 'settle';

/** Credits as the ledger counts them: whole micro-credits, so that no sum can lose a fraction. */
export function toMicro(credits: number): number {
  return Math.round(credits * MICRO);
}

/** Credits as the wire tells them. */
export function toCredits(micro: number): number {
  return micro / MICRO;
}

/**
 * The account's double-entry ledger in micro-credits.
 *
 * Every transaction is a set of rows that sum to zero; rows are only ever added. Each kind can happen once for each
 * reference (a job, a day), so work that is repeated after a crash moves nothing twice. Methods that write expect the
 * caller's transaction, so that credits and the state of the job move together.
 */
export class CreditLedger {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    const open = database.prepare('INSERT OR IGNORE INTO credit_accounts (name) VALUES (?)');
    for (const name of [ISSUED, AVAILABLE, HELD, SPENT]) open.run(name);
  }

  available(): number {
    return this.#balance(AVAILABLE);
  }

  /** The first credits of a new account. */
  grant(amount: number, at: number): void {
    this.#record('grant', 'start', at, { [ISSUED]: -amount, [AVAILABLE]: amount });
  }

  /** Fills the balance up to `target`, at most once for each day (UTC). */
  topUp(target: number, at: number): void {
    const amount = Math.max(0, target - this.available());
    this.#record('top-up', new Date(at).toISOString().slice(0, 10), at, { [ISSUED]: -amount, [AVAILABLE]: amount });
  }

  /** Sets `amount` aside for a job; the caller has seen that it is available. */
  hold(jobId: string, amount: number, at: number): void {
    this.#record('hold', jobId, at, { [AVAILABLE]: -amount, [HELD]: amount });
  }

  /** Ends a hold of `held`: `charge` is spent, the rest is available again. */
  settle(jobId: string, held: number, charge: number, at: number): void {
    this.#record('settle', jobId, at, { [HELD]: -held, [SPENT]: charge, [AVAILABLE]: held - charge });
  }

  /**
   * Checks that every transaction sums to zero, that balances are the sums of their rows, and that what is held is what
   * unfinished jobs hold.
   *
   * @throws AppError `corrupt` naming what does not balance.
   */
  check(): void {
    const failures: string[] = [];
    const count = (sql: string): number => Number(this.#database.prepare(sql).get()?.['count']);
    const unbalanced = count(
      `SELECT count(*) AS count FROM
        (SELECT transaction_id FROM credit_entries GROUP BY transaction_id HAVING sum(amount) <> 0)`,
    );
    if (unbalanced > 0) failures.push(`${unbalanced} transactions do not sum to zero`);
    const wrong = count(
      `SELECT count(*) AS count FROM credit_accounts WHERE balance <>
        (SELECT coalesce(sum(amount), 0) FROM credit_entries WHERE account = name)`,
    );
    if (wrong > 0) failures.push(`${wrong} balances are not the sum of their entries`);
    const holds = count('SELECT coalesce(sum(hold), 0) AS count FROM jobs WHERE finished_at IS NULL');
    const held = this.#balance(HELD);
    if (held !== holds) failures.push(`${held} micro-credits are held, but unfinished jobs hold ${holds}`);
    if (failures.length === 0) return;
    const message = `The credit ledger does not balance: ${failures.join('; ')}. Restore the data folder from a backup.`;
    throw new AppError('corrupt', message);
  }

  #balance(account: string): number {
    return Number(
      this.#database.prepare('SELECT balance FROM credit_accounts WHERE name = ?').get(account)?.['balance'],
    );
  }

  #record(kind: Kind, reference: string, at: number, amounts: Readonly<Record<string, number>>): void {
    const sum = Object.values(amounts).reduce((total, amount) => total + amount, 0);
    if (sum !== 0) throw new AppError('corrupt', `A credit transaction must sum to zero, and this one sums to ${sum}.`);
    const { changes, lastInsertRowid } = this.#database
      .prepare('INSERT OR IGNORE INTO credit_transactions (kind, reference, at) VALUES (?, ?, ?)')
      .run(kind, reference, at);
    if (changes === 0) return;
    const insert = this.#database.prepare('INSERT INTO credit_entries VALUES (?, ?, ?)');
    for (const [account, amount] of Object.entries(amounts)) {
      if (amount !== 0) insert.run(lastInsertRowid, account, amount);
    }
  }
}
