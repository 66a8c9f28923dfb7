import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/columns.ts';

/** The account of the embedded service, and of whoever has `FARWHARF_API_KEY`. */
export const LOCAL_ACCOUNT = 'local';

// IDs are parts of names in the credit ledger, and words of the command line.
const ACCOUNT_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const COLUMNS = {
  id: text('id'),
  name: text('name'),
  /** What `/v1/me` returns as the plan; nothing depends on it. */
  plan: text('plan'),
  /** Milliseconds since 1970, like all times here. */
  createdAt: integer('created_at'),
  disabledAt: nullable(integer('disabled_at')),
};
/** An account's own limits; null means the service's default. */
const LIMITS = {
  /** Jobs that run at once; others wait. */
  maxRunningJobs: nullable(integer('max_running_jobs')),
  maxQueuedJobs: nullable(integer('max_queued_jobs')),
  /** Of one archive. */
  maxUploadBytes: nullable(integer('max_upload_bytes')),
  /** Uploads at once. */
  maxUploads: nullable(integer('max_uploads')),
  /** Event streams and downloads of results at once. */
  maxStreams: nullable(integer('max_streams')),
  requestsPerMinute: nullable(integer('requests_per_minute')),
};

export type OwnLimits = RecordOf<typeof LIMITS>;
export type Account = RecordOf<typeof COLUMNS> & { readonly limits: OwnLimits };

const readAccount = rowReader(COLUMNS);
const readLimits = rowReader(LIMITS);
const LIMIT_NAMES = Object.keys(LIMITS) as (keyof OwnLimits)[];

/** The table of accounts. Accounts are disabled and never removed, because their jobs and credits remain. */
export class AccountTable {
  readonly #get: StatementSync;
  readonly #list: StatementSync;
  readonly #countEnabled: StatementSync;
  readonly #insert: StatementSync;
  readonly #setDisabled: StatementSync;
  readonly #setLimits: StatementSync;

  constructor(database: DatabaseSync) {
    const limits = Object.values(LIMITS).map(({ name }) => `${name} = ?`);
    this.#get = database.prepare('SELECT * FROM accounts WHERE id = ?');
    this.#countEnabled = database.prepare('SELECT count(*) AS count FROM accounts WHERE disabled_at IS NULL');
    this.#list = database.prepare('SELECT * FROM accounts ORDER BY id');
    this.#insert = database.prepare('INSERT OR IGNORE INTO accounts (id, name, plan, created_at) VALUES (?, ?, ?, ?)');
    this.#setDisabled = database.prepare('UPDATE accounts SET disabled_at = ? WHERE id = ?');
    this.#setLimits = database.prepare(`UPDATE accounts SET ${limits.join(', ')} WHERE id = ?`);
  }

  find(id: string): Account | undefined {
    const row = this.#get.get(id);
    return row && toAccount(row);
  }

  /** @throws AppError `missing` if the account does not exist. */
  get(id: string): Account {
    const account = this.find(id);
    if (account === undefined) throw new AppError('missing', `Account "${id}" does not exist.`);
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

  /** @throws AppError `bad-input` for an invalid ID, `conflict` if it is taken. */
  add({ id, name, plan, createdAt }: Pick<Account, 'id' | 'name' | 'plan' | 'createdAt'>): Account {
    if (!ACCOUNT_ID.test(id)) {
      const message = `"${id}" cannot be the ID of an account. Use up to 64 lowercase letters, digits, ".", "_" and "-", and begin with a letter or digit.`;
      throw new AppError('bad-input', message);
    }
    const { changes } = this.#insert.run(id, name, plan, createdAt);
    if (changes === 0) throw new AppError('conflict', `Account "${id}" already exists.`);
    return this.get(id);
  }

  /** Disables an account, or enables it again when `disabledAt` is null. */
  setDisabled(id: string, disabledAt: number | null): Account {
    this.#setDisabled.run(disabledAt, this.get(id).id);
    return this.get(id);
  }

  /** Changes the given limits; null means the service's default. */
  setLimits(id: string, changes: Partial<OwnLimits>): Account {
    const limits = { ...this.get(id).limits, ...changes };
    this.#setLimits.run(...LIMIT_NAMES.map((name) => limits[name]), id);
    return this.get(id);
  }
}

function toAccount(row: Record<string, SQLOutputValue>): Account {
  return { ...readAccount(row), limits: readLimits(row) };
}
