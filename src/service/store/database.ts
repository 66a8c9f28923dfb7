import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../core/errors.ts';

const SQLITE_BUSY = 5;

/** Each step brings a store from its index to the next version; steps that were released never change. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE jobs (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    state         TEXT NOT NULL
                  CHECK (state IN ('queued','starting','running','succeeded','failed','cancelled','timed_out','lost')),
    script        TEXT NOT NULL,
    project       TEXT,
    machine_class TEXT NOT NULL,
    max_runtime   INTEGER NOT NULL CHECK (max_runtime > 0),
    created_at    INTEGER NOT NULL,
    started_at    INTEGER,
    finished_at   INTEGER,
    exit_code     INTEGER,
    reason        TEXT,
    hold          INTEGER NOT NULL CHECK (hold >= 0),
    charged       INTEGER CHECK (charged BETWEEN 0 AND hold),
    log_offset    INTEGER NOT NULL DEFAULT 0,
    CHECK ((finished_at IS NULL) = (state IN ('queued','starting','running'))),
    CHECK ((finished_at IS NULL) = (charged IS NULL))
  ) STRICT;
  CREATE INDEX unfinished_jobs ON jobs (number) WHERE finished_at IS NULL;

  CREATE TABLE events (
    job  INTEGER NOT NULL REFERENCES jobs (number),
    id   INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (job, id)
  ) STRICT, WITHOUT ROWID;

  -- Double entry in micro-credits. 'issued' is where credits come from, the only account that may be below zero.
  CREATE TABLE credit_accounts (
    name    TEXT PRIMARY KEY,
    balance INTEGER NOT NULL DEFAULT 0 CHECK (balance >= 0 OR name = 'issued')
  ) STRICT;
  CREATE TABLE credit_transactions (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind      TEXT NOT NULL CHECK (kind IN ('grant','top-up','hold','settle')),
    reference TEXT NOT NULL,
    at        INTEGER NOT NULL,
    UNIQUE (kind, reference)
  ) STRICT;
  CREATE TABLE credit_entries (
    transaction_id INTEGER NOT NULL REFERENCES credit_transactions (id),
    account        TEXT NOT NULL REFERENCES credit_accounts (name),
    amount         INTEGER NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (transaction_id, account)
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER entries_move_balances AFTER INSERT ON credit_entries BEGIN
    UPDATE credit_accounts SET balance = balance + NEW.amount WHERE name = NEW.account;
  END;
  CREATE TRIGGER entries_are_final BEFORE UPDATE ON credit_entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER entries_stay BEFORE DELETE ON credit_entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER transactions_are_final BEFORE UPDATE ON credit_transactions BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER transactions_stay BEFORE DELETE ON credit_transactions BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  `,
];

/**
 * Opens the store at `path`, makes or upgrades its tables, and holds it for this process alone.
 *
 * The operating system releases the lock when the process ends, however it ends, so no stale lock can be left behind.
 *
 * @throws AppError `conflict` when another process holds the store, `corrupt` when it is damaged or of a later version.
 */
export function openDatabase(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // FULL keeps a commit over a power loss as well: https://www.sqlite.org/pragma.html#pragma_synchronous
    database.exec(`
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      BEGIN EXCLUSIVE; COMMIT;`);
    upgrade(database, path);
    return database;
  } catch (error) {
    database.close();
    throw explained(error, path);
  }
}

/** Runs `work` as one transaction: all of it is kept, or nothing. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function upgrade(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > MIGRATIONS.length) {
    throw new AppError('corrupt', `The store ${path} was written by a later version of Farwharf. Update this one.`);
  }
  for (const [index, step] of MIGRATIONS.entries()) {
    if (index < version) continue;
    inTransaction(database, () => database.exec(`${step}; PRAGMA user_version = ${index + 1}`));
  }
}

function explained(error: unknown, path: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if ('errcode' in error && error.errcode === SQLITE_BUSY) {
    const message = `Another job service uses ${path}. Connect to that one, or choose another data folder.`;
    return new AppError('conflict', message, { cause: error });
  }
  const message = `The store ${path} cannot be used: ${error.message}. Move its folder away to begin a new one.`;
  return new AppError('corrupt', message, { cause: error });
}
