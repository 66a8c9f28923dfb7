// Replacing a table drops its triggers.
const LEDGER_TRIGGERS = `
  CREATE TRIGGER entries_move_balances AFTER INSERT ON credit_entries BEGIN
    UPDATE credit_accounts SET balance = balance + NEW.amount WHERE name = NEW.account;
  END;
  CREATE TRIGGER entries_are_final BEFORE UPDATE ON credit_entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER entries_stay BEFORE DELETE ON credit_entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER transactions_are_final BEFORE UPDATE ON credit_transactions BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER transactions_stay BEFORE DELETE ON credit_transactions BEGIN SELECT RAISE(ABORT, 'append-only'); END;
`;

/**
 * Each step upgrades a store from the version of its index to the next. Released steps never change. A program refuses a store with
 * a higher version than it has steps, so this number is also the version that a store needs at least. A table or nullable column that
 * restricts nobody needs no step: `declareTables` adds it, and earlier programs ignore it. One that restricts what an account, key or
 * service may do needs a step, which can be empty, because a program that ignored it would permit what is forbidden.
 */
export const MIGRATIONS: readonly string[] = [
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

  ${LEDGER_TRIGGERS}
  `,
  `
  CREATE TABLE accounts (
    id                  TEXT PRIMARY KEY CHECK (id NOT LIKE '%:%'),
    name                TEXT NOT NULL,
    plan                TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    disabled_at         INTEGER,
    -- NULL: the service's default.
    max_running_jobs    INTEGER CHECK (max_running_jobs >= 0),
    max_queued_jobs     INTEGER CHECK (max_queued_jobs >= 0),
    max_upload_bytes    INTEGER CHECK (max_upload_bytes >= 0),
    max_uploads         INTEGER CHECK (max_uploads >= 0),
    max_streams         INTEGER CHECK (max_streams >= 0),
    requests_per_minute INTEGER CHECK (requests_per_minute > 0)
  ) STRICT;
  INSERT INTO accounts (id, name, plan, created_at)
    VALUES ('local', 'The one who runs the service', 'local', unixepoch() * 1000);

  CREATE TABLE api_keys (
    id           TEXT PRIMARY KEY,
    account      TEXT NOT NULL REFERENCES accounts (id),
    digest       BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    label        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
  ) STRICT;
  CREATE INDEX keys_of_accounts ON api_keys (account);

  ALTER TABLE jobs ADD COLUMN account TEXT NOT NULL DEFAULT 'local' REFERENCES accounts (id);
  ALTER TABLE jobs ADD COLUMN files_removed_at INTEGER;
  ALTER TABLE jobs ADD COLUMN events_removed_at INTEGER;
  CREATE INDEX jobs_with_files ON jobs (finished_at, number) WHERE finished_at IS NOT NULL AND files_removed_at IS NULL;
  CREATE INDEX jobs_with_events ON jobs (finished_at) WHERE finished_at IS NOT NULL AND events_removed_at IS NULL;
  CREATE INDEX jobs_of_accounts ON jobs (account, number);
  -- Holds all that a report of usage adds up, so that it reads no rows.
  CREATE INDEX finished_jobs ON jobs (finished_at, account, machine_class, charged, started_at)
    WHERE finished_at IS NOT NULL;
  CREATE INDEX unfinished_jobs_of_accounts ON jobs (account, state) WHERE finished_at IS NULL;

  CREATE TABLE submissions (
    account           TEXT NOT NULL REFERENCES accounts (id),
    idempotency_key   TEXT NOT NULL,
    job               TEXT NOT NULL REFERENCES jobs (id),
    fingerprint       TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    credits_remaining INTEGER NOT NULL,
    PRIMARY KEY (account, idempotency_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX submissions_by_time ON submissions (created_at);

  -- Of jobs that have not begun: what makes their workspaces again after a power loss. No archive: it is a file.
  CREATE TABLE workspaces (
    job     INTEGER PRIMARY KEY REFERENCES jobs (number),
    spec    TEXT NOT NULL,
    archive BLOB,
    boot    TEXT NOT NULL
  ) STRICT;

  -- A kind of transaction happens once for each reference in each account, no longer in all of the store.
  DROP TRIGGER entries_move_balances;
  DROP TRIGGER entries_are_final;
  DROP TRIGGER entries_stay;
  DROP TRIGGER transactions_are_final;
  DROP TRIGGER transactions_stay;
  CREATE TABLE credit_transactions_of_accounts (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    account   TEXT NOT NULL REFERENCES accounts (id),
    kind      TEXT NOT NULL CHECK (kind IN ('grant','top-up','hold','settle')),
    reference TEXT NOT NULL,
    at        INTEGER NOT NULL,
    note      TEXT,
    UNIQUE (account, kind, reference)
  ) STRICT;
  INSERT INTO credit_transactions_of_accounts (id, account, kind, reference, at)
    SELECT id, 'local', kind, reference, at FROM credit_transactions;
  DROP TABLE credit_transactions;
  ALTER TABLE credit_transactions_of_accounts RENAME TO credit_transactions;
  CREATE INDEX transactions_of_accounts ON credit_transactions (account, id);
  ${LEDGER_TRIGGERS}
  `,
  // Drains, budgets of groups, projects and keys, scopes of keys, and groups of accounts.
  '',
  // Limits of accounts for disk and run time.
  '',
  // Secrets that are removed from results.
  '',
];
