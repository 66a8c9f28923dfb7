import { chmodSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf, systemCode } from '../../core/errors.ts';
import { createPrivateFile, requireOwnHome } from '../../core/files/ownFiles.ts';
import { ledgerPath } from './changeMark.ts';

const SCHEMA_VERSION = 1;
const BUSY_TIMEOUT_MS = 5_000;

// Records are JSON, so that an older version reads and preserves what a newer one wrote. Searched fields are generated columns with
// indexes. Leases have their own table, because renewing one must not count as a change of the list.
const SCHEMA = `
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  record TEXT NOT NULL CHECK (json_valid(record)),
  host TEXT AS (record ->> 'host') VIRTUAL,
  job_id TEXT AS (record ->> 'jobId') VIRTUAL,
  folder TEXT AS (record ->> 'folder') VIRTUAL,
  state TEXT AS (record ->> 'state') VIRTUAL,
  created_at TEXT AS (record ->> 'createdAt') VIRTUAL,
  removed INTEGER AS (record ->> 'removed') VIRTUAL
) STRICT;
CREATE UNIQUE INDEX jobs_by_service_id ON jobs (host, job_id) WHERE job_id IS NOT NULL;
CREATE INDEX jobs_by_job_id ON jobs (job_id);
CREATE INDEX jobs_by_time ON jobs (created_at, id);
CREATE INDEX jobs_by_state ON jobs (state);
CREATE TABLE leases (job TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;
CREATE TABLE changes (revision INTEGER NOT NULL) STRICT;
INSERT INTO changes VALUES (0);
CREATE TRIGGER job_added AFTER INSERT ON jobs BEGIN UPDATE changes SET revision = revision + 1; END;
CREATE TRIGGER job_changed AFTER UPDATE ON jobs BEGIN UPDATE changes SET revision = revision + 1; END;
CREATE TRIGGER job_deleted AFTER DELETE ON jobs BEGIN UPDATE changes SET revision = revision + 1; END;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

// Which jobs changed, in the order of the changes. It was added to ledgers of this version, whose earlier programs write it too, because the
// triggers are in the file. A deleted job keeps its row.
const CHANGES = `
CREATE TABLE IF NOT EXISTS job_changes (job TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS job_changes_by_number ON job_changes (number);
${changeTrigger('INSERT', 'new')}
${changeTrigger('UPDATE', 'new')}
${changeTrigger('DELETE', 'old')}
`;

function changeTrigger(event: 'INSERT' | 'UPDATE' | 'DELETE', row: 'new' | 'old'): string {
  return `CREATE TRIGGER IF NOT EXISTS number_${event} AFTER ${event} ON jobs BEGIN
    INSERT OR REPLACE INTO job_changes VALUES (${row}.id, (SELECT coalesce(max(number), 0) + 1 FROM job_changes)); END;`;
}

// Result codes of SQLite: SQLITE_CORRUPT, SQLITE_NOTADB (https://sqlite.org/rescode.html).
const CORRUPT_CODES: ReadonlySet<number> = new Set([11, 26]);
const SQLITE_BUSY = 5;

export interface OpenedLedger {
  readonly database: DatabaseSync;
  readonly problem: string | undefined;
  /** Whether the ledger is in the file, not in memory. */
  readonly isStored: boolean;
}

/**
 * Opens `jobs.sqlite` in `home`. A damaged file is moved aside, never deleted. If the file cannot be written, the ledger is in
 * memory, with the records of the file if they can be read. `problem` describes either case.
 */
export function openLedgerFile(home: string): OpenedLedger {
  const path = ledgerPath(home);
  try {
    requireOwnHome(home);
  } catch (error) {
    return inMemory(path, messageOf(error));
  }
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return { database: openDatabase(path), problem: undefined, isStored: true };
  } catch (error) {
    if (!isCorrupt(error)) return inMemory(path, messageOf(error), recordsOf(path));
  }
  try {
    const aside = moveAside(path);
    return {
      database: openDatabase(path),
      problem: `The list of jobs was damaged, so a new one was created. The old file is now ${aside}.`,
      isStored: true,
    };
  } catch (error) {
    return inMemory(path, messageOf(error));
  }
}

type Rows = ReturnType<StatementSync['all']>;

function inMemory(path: string, why: string, records?: Rows): OpenedLedger {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA + CHANGES);
  const insert = database.prepare('INSERT INTO jobs (id, record) VALUES (?, ?)');
  for (const { id, record } of records ?? []) insert.run(id ?? null, record ?? null);
  const what = records === undefined ? 'used' : 'changed';
  return {
    database,
    problem: `The list of jobs in ${path} cannot be ${what} (${why}). Jobs that you submit now are not recorded. Check the permissions of that file and the free space on its disk.`,
    isStored: false,
  };
}

/** The records of a file that cannot be written, such as one on a full disk; undefined if they cannot be read either. */
function recordsOf(path: string): Rows | undefined {
  // SQLite reads the journal only if another process has the file open, or if it can write one. An immutable file needs no journal, and
  // shows the records as of when the last process closed it.
  const immutable = pathToFileURL(path);
  immutable.search = 'immutable=1';
  for (const source of [path, immutable]) {
    let file: DatabaseSync | undefined;
    try {
      file = new DatabaseSync(source, { readOnly: true });
      return file.prepare('SELECT id, record FROM jobs').all();
    } catch {
      // The next source may work.
    } finally {
      file?.close();
    }
  }
  return undefined;
}

function openDatabase(path: string): DatabaseSync {
  // SQLite creates its journal files with the mode of the database, so the mode must be right before that.
  createPrivateFile(path);
  if ((statSync(path).mode & 0o077) !== 0 && process.platform !== 'win32') chmodSync(path, 0o600);
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    useWriteAheadLog(database);
    // FULL: a job that the service accepted must still be recorded after a power loss.
    database.exec('PRAGMA synchronous = FULL');
    const check = database.prepare('PRAGMA quick_check(1)').get();
    if (check?.['quick_check'] !== 'ok') throw new DamagedError(String(check?.['quick_check']));
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version > SCHEMA_VERSION) throw new Error('it was created by a newer version of Farwharf');
    if (version === 0) database.exec(SCHEMA);
    database.exec(CHANGES);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

// Despite the busy timeout, switching to WAL fails immediately if two processes open a new file at the same time.
function useWriteAheadLog(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; ; attempt += 1) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (resultCode(error) !== SQLITE_BUSY || attempt === 100) throw error;
      Atomics.wait(pause, 0, 0, 20);
    }
  }
}

function moveAside(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(':', '-')}`;
  renameSync(path, aside);
  for (const suffix of ['-wal', '-shm']) {
    try {
      renameSync(path + suffix, aside + suffix);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
  return aside;
}

class DamagedError extends Error {}

function isCorrupt(error: unknown): boolean {
  return error instanceof DamagedError || CORRUPT_CODES.has(resultCode(error) ?? 0);
}

/** SQLite's primary result code of a failed call. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}
