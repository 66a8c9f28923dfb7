import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { type Insert, inserter, prepareAll, type Statements, updater } from '../database/sqlStatements.ts';

/** The account of the embedded service, and of everyone with `FARWHARF_API_KEY`. */
export const LOCAL_ACCOUNT = 'local';

// IDs are parts of names in the credit ledger, and words of the command line.
const ACCOUNT_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Descriptive texts of an account, on which nothing depends. */
const WORDS = {
  name: text('name'),
  /** What `/v1/me` returns as the plan. */
  plan: text('plan'),
};
const ADDED = {
  id: text('id'),
  ...WORDS,
  /** Milliseconds since 1970, like all times here. */
  createdAt: integer('created_at'),
};
/** The group that it belongs to. */
const MEMBERSHIP = { group: nullable(text('group_name')) };
const COLUMNS = { ...ADDED, disabledAt: nullable(integer('disabled_at')), ...MEMBERSHIP };
/** An account's own limits, named as in the configuration; null means the service's default. */
const LIMITS = {
  /** Jobs that run at once; others wait. */
  running_jobs: nullable(integer('max_running_jobs')),
  queued_jobs: nullable(integer('max_queued_jobs')),
  /** Of one archive. */
  upload_bytes: nullable(integer('max_upload_bytes')),
  /** Uploads at once. */
  uploads: nullable(integer('max_uploads')),
  /** Event streams and downloads of results at once. */
  streams: nullable(integer('max_streams')),
  /** Of all files of its jobs together. */
  disk_bytes: nullable(integer('max_disk_bytes')),
  /** Seconds that a job may request. */
  run_time: nullable(integer('max_run_time')),
  requests_per_minute: nullable(integer('requests_per_minute')),
};

/** All columns of the table. */
export const ACCOUNT_COLUMNS = { ...COLUMNS, ...LIMITS };

export type OwnLimits = RecordOf<typeof LIMITS>;
type AccountWords = RecordOf<typeof WORDS>;
export type NewAccount = RecordOf<typeof ADDED>;
export type StoredAccount = RecordOf<typeof COLUMNS> & { readonly limits: OwnLimits };

const readAccount = rowReader(COLUMNS);
const readLimits = rowReader(LIMITS);
const SQL = {
  get: 'SELECT * FROM accounts WHERE id = ?',
  list: 'SELECT * FROM accounts ORDER BY id',
  countEnabled: 'SELECT count(*) AS count FROM accounts WHERE disabled_at IS NULL',
  members: 'SELECT id FROM accounts WHERE group_name = ? ORDER BY id',
  leaveGroup: 'UPDATE accounts SET group_name = NULL WHERE group_name = ?',
  setDisabled: 'UPDATE accounts SET disabled_at = ? WHERE id = ?',
};

/** The table of accounts. Accounts are disabled and never removed, because their jobs and credits remain. */
export class AccountTable {
  readonly #sql: Statements<typeof SQL>;
  readonly #insert: Insert<typeof ADDED>;
  readonly #edit: (id: string, words: AccountWords) => void;
  readonly #setGroup: (id: string, membership: RecordOf<typeof MEMBERSHIP>) => void;
  readonly #setLimits: (id: string, limits: OwnLimits) => void;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
    this.#insert = inserter(database, 'INSERT OR IGNORE INTO accounts', ADDED);
    this.#edit = updater(database, 'accounts', WORDS);
    this.#setGroup = updater(database, 'accounts', MEMBERSHIP);
    this.#setLimits = updater(database, 'accounts', LIMITS);
  }

  find(id: string): StoredAccount | undefined {
    const row = this.#sql.get.get(id);
    return row && toAccount(row);
  }

  /** @throws AppError `missing` if the account does not exist. */
  get(id: string): StoredAccount {
    const account = this.find(id);
    if (account === undefined) throw new AppError('missing', `Account "${id}" does not exist.`);
    return account;
  }

  /** All accounts, by id. */
  list(): readonly StoredAccount[] {
    return this.#sql.list.all().map(toAccount);
  }

  /** How many accounts are not disabled. */
  countEnabled(): number {
    return Number(this.#sql.countEnabled.get()?.['count'] ?? 0);
  }

  /** @throws AppError `bad-input` for an invalid ID, `conflict` if it is taken. */
  add(account: NewAccount): StoredAccount {
    const { id } = account;
    if (!isAccountId(id)) {
      const message = `"${id}" cannot be the ID of an account. Use up to 64 lowercase letters, digits, ".", "_" and "-", and begin with a letter or digit.`;
      throw new AppError('bad-input', message);
    }
    const { changes } = this.#insert(account);
    if (changes === 0) throw new AppError('conflict', `Account "${id}" already exists.`);
    return this.get(id);
  }

  /** Disables an account, or enables it again when `disabledAt` is null. */
  setDisabled(id: string, disabledAt: number | null): StoredAccount {
    this.#sql.setDisabled.run(disabledAt, this.get(id).id);
    return this.get(id);
  }

  /** Changes the given words. */
  edit(id: string, changes: Partial<AccountWords>): StoredAccount {
    const { name, plan } = this.get(id);
    this.#edit(id, { name, plan, ...changes });
    return this.get(id);
  }

  /** Makes an account a member of a group and no other, or of none. */
  setGroup(id: string, group: string | null): StoredAccount {
    this.#setGroup(this.get(id).id, { group });
    return this.get(id);
  }

  /** The IDs of a group's accounts. */
  members(group: string): readonly string[] {
    return this.#sql.members.all(group).map(({ id }) => String(id));
  }

  /** Makes all members of a group members of none. */
  dissolve(group: string): void {
    this.#sql.leaveGroup.run(group);
  }

  /** Changes the given limits; null means the service's default. */
  setLimits(id: string, changes: Partial<OwnLimits>): StoredAccount {
    this.#setLimits(id, { ...this.get(id).limits, ...changes });
    return this.get(id);
  }
}

/** Whether an account can have this ID. */
export function isAccountId(id: string): boolean {
  return ACCOUNT_ID.test(id);
}

function toAccount(row: Record<string, SQLOutputValue>): StoredAccount {
  return { ...readAccount(row), limits: readLimits(row) };
}
