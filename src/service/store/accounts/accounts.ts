import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';

/** The account of the embedded service, and of whoever holds `FARWHARF_API_KEY`. */
export const LOCAL_ACCOUNT = 'local';

/** Ids of accounts, which are parts of names in the credit ledger and words of the command line. */
const ACCOUNT_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The limits of an account that are its own; null where the service's default holds. */
export interface OwnLimits {
  /** Jobs that run at once; others wait. */
  readonly maxRunningJobs: number | null;
  readonly maxQueuedJobs: number | null;
  /** Of one archive. */
  readonly maxUploadBytes: number | null;
  /** Uploads at once. */
  readonly maxUploads: number | null;
  /** Event streams and downloads of results at once. */
  readonly maxStreams: number | null;
  readonly requestsPerMinute: number | null;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** What `/v1/me` calls the plan; nothing depends on it. */
  readonly plan: string;
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly limits: OwnLimits;
}

const COLUMN_OF_LIMIT: Readonly<Record<keyof OwnLimits, string>> = {
  maxRunningJobs: 'max_running_jobs',
  maxQueuedJobs: 'max_queued_jobs',
  maxUploadBytes: 'max_upload_bytes',
  maxUploads: 'max_uploads',
  maxStreams: 'max_streams',
  requestsPerMinute: 'requests_per_minute',
};

/** The table of accounts. An account is never removed, only disabled: its jobs and its credits remain. */
export class AccountTable {
  readonly #get: StatementSync;
  readonly #list: StatementSync;
  readonly #countEnabled: StatementSync;
  readonly #insert: StatementSync;
  readonly #setDisabled: StatementSync;
  readonly #setLimits: StatementSync;

  constructor(database: DatabaseSync) {
    const columns = Object.values(COLUMN_OF_LIMIT);
    this.#get = database.prepare('SELECT * FROM accounts WHERE id = ?');
    this.#countEnabled = database.prepare('SELECT count(*) AS count FROM accounts WHERE disabled_at IS NULL');
    this.#list = database.prepare('SELECT * FROM accounts ORDER BY id');
    this.#insert = database.prepare('INSERT OR IGNORE INTO accounts (id, name, plan, created_at) VALUES (?, ?, ?, ?)');
    this.#setDisabled = database.prepare('UPDATE accounts SET disabled_at = ? WHERE id = ?');
    this.#setLimits = database.prepare(
      `UPDATE accounts SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
    );
  }

  find(id: string): Account | undefined {
    const row = this.#get.get(id);
    return row && toAccount(row);
  }

  /** @throws AppError `missing` when there is no such account. */
  get(id: string): Account {
    const account = this.find(id);
    if (account === undefined) throw new AppError('missing', `There is no account "${id}".`);
    return account;
  }

  /** All accounts, by id. */
  list(): readonly Account[] {
    return this.#list.all().map(toAccount);
  }

  /** How many accounts are not disabled. */
  countEnabled(): number {
    return Number(this.#countEnabled.get()?.['count'] ?? 0);
  }

  /** @throws AppError `bad-input` for an id that is none, `conflict` when there is one of that id. */
  add({ id, name, plan, createdAt }: Pick<Account, 'id' | 'name' | 'plan' | 'createdAt'>): Account {
    if (!ACCOUNT_ID.test(id)) {
      const message = `"${id}" cannot be an account: take up to 64 small letters, digits, ".", "_" and "-", the first of them a letter or digit.`;
      throw new AppError('bad-input', message);
    }
    const { changes } = this.#insert.run(id, name, plan, createdAt);
    if (changes === 0) throw new AppError('conflict', `There is an account "${id}" already.`);
    return this.get(id);
  }

  /** Disables an account, or enables it again when `disabledAt` is null. */
  setDisabled(id: string, disabledAt: number | null): Account {
    this.#setDisabled.run(disabledAt, this.get(id).id);
    return this.get(id);
  }

  /** Changes the limits that are given; null gives one back to the service's default. */
  setLimits(id: string, changes: Partial<OwnLimits>): Account {
    const limits = { ...this.get(id).limits, ...changes };
    this.#setLimits.run(...limitNames().map((name) => limits[name]), id);
    return this.get(id);
  }
}

/** The names of all limits, in one order. */
function limitNames(): readonly (keyof OwnLimits)[] {
  return Object.keys(COLUMN_OF_LIMIT) as (keyof OwnLimits)[];
}

function toAccount(row: Record<string, SQLOutputValue>): Account {
  const number = (column: string): number | null => (row[column] === null ? null : Number(row[column]));
  const limit = (name: keyof OwnLimits): number | null => number(COLUMN_OF_LIMIT[name]);
  return {
    id: String(row['id']),
    name: String(row['name']),
    plan: String(row['plan']),
    createdAt: Number(row['created_at']),
    disabledAt: number('disabled_at'),
    limits: {
      maxRunningJobs: limit('maxRunningJobs'),
      maxQueuedJobs: limit('maxQueuedJobs'),
      maxUploadBytes: limit('maxUploadBytes'),
      maxUploads: limit('maxUploads'),
      maxStreams: limit('maxStreams'),
      requestsPerMinute: limit('requestsPerMinute'),
    },
  };
}
