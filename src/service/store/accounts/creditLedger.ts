import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import { LOCAL_ACCOUNT } from './accountTable.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';
import type { StoredJob } from '../jobs/jobTable.ts';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/tableColumns.ts';

const MICRO = 1_000_000;
/** Where credits come from: the only balance that is negative. */
const ISSUED = 'issued';

/** The reference of the first grant. */
const START = 'start';

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

const toEntry = rowReader(COLUMNS);

/** Micro-credits of an account. */
export interface Balances {
  readonly available: number;
  /** Reserved for unfinished jobs. */
  readonly held: number;
  readonly spent: number;
}

export interface Grant {
  readonly reference: string;
  readonly amount: number;
  readonly at: number;
  readonly note?: string | null;
}

interface Transaction {
  readonly kind: 'grant' | 'hold' | 'settle';
  readonly reference: string;
  readonly at: number;
  readonly note?: string | null;
}

type BookEntry = RecordOf<typeof COLUMNS>;

/** Credits in the unit of the ledger: whole micro-credits, so that no sum loses a fraction. */
export function toMicro(credits: number): number {
  return Math.round(credits * MICRO);
}

/** Credits in the unit of the protocol. */
export function toCredits(micro: number): number {
  return micro / MICRO;
}

const SQL = {
  balance: 'SELECT balance FROM credit_accounts WHERE name = ?',
  insertTransaction:
    'INSERT OR IGNORE INTO credit_transactions (account, kind, reference, at, note) VALUES (?, ?, ?, ?, ?)',
  insertEntry: 'INSERT INTO credit_entries VALUES (?, ?, ?)',
  open: 'INSERT OR IGNORE INTO credit_accounts (name) VALUES (?)',
  granted: `SELECT coalesce(amount, 0) AS amount FROM credit_transactions
    LEFT JOIN credit_entries ON transaction_id = id AND credit_entries.account = ?
    WHERE credit_transactions.account = ? AND kind = 'grant' AND reference = ?`,
};

/** Each returns a row for each thing that does not balance. */
const CHECKS = [
  `SELECT count(*) || ' transactions do not sum to zero' AS failure FROM
    (SELECT transaction_id FROM credit_entries GROUP BY transaction_id HAVING sum(amount) <> 0) HAVING count(*) > 0`,
  `SELECT count(*) || ' balances are not the sum of their entries' AS failure FROM credit_accounts LEFT JOIN
    (SELECT account, sum(amount) AS total FROM credit_entries GROUP BY account) ON account = name
    WHERE balance <> coalesce(total, 0) HAVING count(*) > 0`,
  `SELECT 'all balances together are ' || sum(balance) || ' micro-credits and not zero' AS failure
    FROM credit_accounts HAVING sum(balance) <> 0`,
  `SELECT id || ': ' || coalesce(balance, 0) || ' micro-credits are held, but its unfinished jobs hold ' || coalesce(holds, 0)
      AS failure FROM accounts
    LEFT JOIN credit_accounts ON credit_accounts.name = id || ':held'
    LEFT JOIN (SELECT account, sum(hold) AS holds FROM jobs WHERE finished_at IS NULL GROUP BY account) ON account = id
    WHERE coalesce(balance, 0) <> coalesce(holds, 0)`,
];

/**
 * The double-entry ledger of all accounts, in micro-credits: each account has available, held and spent credits.
 *
 * Every transaction is a set of rows that sum to zero, and rows are only added. Each kind happens once per reference (a job, a
 * grant) in an account, so a repetition after a crash changes nothing. Methods that write expect the caller's transaction, so that
 * credits and the state of the job change together.
 */
export class CreditLedger {
  readonly #database: DatabaseSync;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepareAll(database, SQL);
    this.#sql.open.run(ISSUED);
    this.open(LOCAL_ACCOUNT);
  }

  /** Adds a new account to the ledger, without credits. */
  open(account: string): void {
    for (const name of Object.values(namesOf(account))) this.#sql.open.run(name);
  }

  balances(account: string): Balances {
    const { available, held, spent } = namesOf(account);
    return {
      available: this.#balanceOf(available),
      held: this.#balanceOf(held),
      spent: this.#balanceOf(spent),
    };
  }

  available(account: string): number {
    return this.#balanceOf(namesOf(account).available);
  }

  /**
   * Grants credits to an account, or takes back available ones if `amount` is negative. Happens once per `reference` in an account.
   *
   * @returns false if it had happened before.
   * @throws AppError `bad-input` if fewer are available than would be taken, `conflict` if the reference was used for another amount.
   */
  grant(account: string, { reference, amount, at, note = null }: Grant): boolean {
    const { available } = namesOf(account);
    const earlier = this.#sql.granted.get(available, account, reference);
    if (earlier !== undefined && Number(earlier['amount']) !== amount) {
      const message = `The reference "${reference}" has already granted ${toCredits(Number(earlier['amount']))} credits to ${account}. Use another reference for another amount.`;
      throw new AppError('conflict', message);
    }
    if (earlier !== undefined) return false;
    const left = this.available(account);
    if (left + amount < 0) {
      const message = `${toCredits(-amount)} credits cannot be taken from ${account}: ${toCredits(left)} are available.`;
      throw new AppError('bad-input', message);
    }
    this.#record(account, { kind: 'grant', reference, at, note }, { [ISSUED]: -amount, [available]: amount });
    return true;
  }

  /** Grants the account `local` its first credits, once, even if they are another amount later. */
  grantStart(amount: number, at: number): void {
    const { available } = namesOf(LOCAL_ACCOUNT);
    if (this.#sql.granted.get(available, LOCAL_ACCOUNT, START) !== undefined) return;
    this.grant(LOCAL_ACCOUNT, { reference: START, amount, at });
  }

  /** Reserves `amount` for a job. The caller has checked that it is available. */
  hold(account: string, jobId: string, amount: number, at: number): void {
    const { available, held } = namesOf(account);
    this.#record(account, { kind: 'hold', reference: jobId, at }, { [available]: -amount, [held]: amount });
  }

  /** Ends the hold of a job: its charge is spent, the rest is available again. */
  settle({ account, id, hold }: Pick<StoredJob, 'account' | 'id' | 'hold'>, charge: number, at: number): void {
    const { available, held, spent } = namesOf(account);
    const amounts = { [held]: -hold, [spent]: charge, [available]: hold - charge };
    this.#record(account, { kind: 'settle', reference: id, at }, amounts);
  }

  /**
   * Checks that every transaction and all balances sum to zero, that balances are the sums of their rows, and that each account
   * holds what its unfinished jobs hold.
   *
   * @throws AppError `corrupt` that names what does not balance.
   */
  check(): void {
    const failures = CHECKS.flatMap((sql) => this.#database.prepare(sql).all()).map((row) => String(row['failure']));
    if (failures.length === 0) return;
    const message = `The credit ledger does not balance: ${failures.join('; ')}. Restore the data folder from a backup.`;
    throw new AppError('corrupt', message);
  }

  #balanceOf(name: string): number {
    return Number(this.#sql.balance.get(name)?.['balance'] ?? 0);
  }

  #record(account: string, transaction: Transaction, amounts: Readonly<Record<string, number>>): void {
    const { kind, reference, at, note = null } = transaction;
    const sum = Object.values(amounts).reduce((total, amount) => total + amount, 0);
    if (sum !== 0) throw new AppError('corrupt', `A credit transaction must sum to zero, and this one sums to ${sum}.`);
    const { changes, lastInsertRowid } = this.#sql.insertTransaction.run(account, kind, reference, at, note);
    if (changes === 0) return;
    for (const [name, amount] of Object.entries(amounts)) {
      if (amount !== 0) this.#sql.insertEntry.run(lastInsertRowid, name, amount);
    }
  }
}

function namesOf(account: string): Record<keyof Balances, string> {
  return { available: `${account}:available`, held: `${account}:held`, spent: `${account}:spent` };
}

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
