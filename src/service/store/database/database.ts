import { closeSync, fsyncSync, openSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import { createPrivateFile, ensurePrivateFile, ensurePrivateFolder, requireOwn } from '../../../core/files/ownFiles.ts';
import { MIGRATIONS } from './migrations.ts';

const SQLITE_BUSY = 5;
const OUTER = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', rollback: 'ROLLBACK' };
const NESTED = { begin: 'SAVEPOINT part', commit: 'RELEASE part', rollback: 'ROLLBACK TO part; RELEASE part' };

/**
 * Opens the store at `path`, creates or upgrades its tables, and locks it for this process. Before it changes the schema of a
 * store, it writes a copy beside it, `<path>.v<version>`.
 *
 * @param declare adds tables and columns that a store lacks.
 *
 * The operating system releases the lock when the process ends, so no stale lock can be left behind. Permissions of other users
 * on the store and its copies are removed.
 *
 * @throws AppError `conflict` if another process has locked the store, `corrupt` if it is damaged or from a later version,
 * `permission` if it belongs to another user, `refused` if others can write it.
 */
export function openDatabase(path: string, declare: (database: DatabaseSync) => void = () => {}): DatabaseSync {
  const database = openLocked(path);
  try {
    upgrade(database, path, declare);
    return database;
  } catch (error) {
    database.close();
    throw explained(error, path);
  }
}

/** Opens and locks the store at `path` without upgrading it. @throws as `openDatabase`. */
export function openLocked(path: string): DatabaseSync {
  const folder = dirname(path);
  ensurePrivateFolder(folder);
  // SQLite creates its other files with the mode of this one.
  createPrivateFile(path);
  // Its journal and the copies of upgrades contain the same rows.
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(basename(path))) continue;
    requireOwn(join(folder, name)); // others may have changed a file that they can write
    ensurePrivateFile(join(folder, name));
  }
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // A page that several commits change is copied from the journal once. That is done after 32 MB of changes, not after 4 MB as by default.
    // With FULL, a commit survives a power loss too: https://www.sqlite.org/pragma.html#pragma_synchronous
    database.exec(`
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 8000;
      BEGIN EXCLUSIVE; COMMIT;`);
    return database;
  } catch (error) {
    database.close();
    throw explained(error, path);
  }
}

/** Runs `work` as one transaction, which is part of the open one if there is one. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  const { begin, commit, rollback } = database.isTransaction ? NESTED : OUTER;
  database.exec(begin);
  try {
    const result = work();
    database.exec(commit);
    return result;
  } catch (error) {
    // A full disk has rolled back everything already.
    if (database.isTransaction) database.exec(rollback);
    throw error;
  }
}

function upgrade(database: DatabaseSync, path: string, declare: (database: DatabaseSync) => void): void {
  const version = readNumber(database, 'user_version');
  if (version > MIGRATIONS.length) {
    const message = `The store ${path} was written by a later version of Farwharf, and needs at least version ${version} of the store's format. This program knows version ${MIGRATIONS.length}, so it would not enforce all restrictions in it. Update this program.`;
    throw new AppError('corrupt', message);
  }
  const isChanged = version < MIGRATIONS.length || changesSchema(database, declare);
  if (version > 0 && isChanged) keepCopy(database, `${path}.v${version}`);
  // Tables with references to them can only be changed while references are not enforced: https://www.sqlite.org/lang_altertable.html#otheralter
  database.exec('PRAGMA foreign_keys = OFF');
  // One transaction for all, so that a crash leaves the old store or the new one.
  inTransaction(database, () => {
    if (version < MIGRATIONS.length) migrate(database, path, version);
    declare(database);
  });
  database.exec('PRAGMA foreign_keys = ON');
}

/** Takes the steps from `version` on. Expects a transaction, in which references are not enforced. */
function migrate(database: DatabaseSync, path: string, version: number): void {
  for (const step of MIGRATIONS.slice(version)) database.exec(step);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  const dangling = database.prepare('PRAGMA foreign_key_check').get();
  if (dangling === undefined) return;
  throw new AppError('corrupt', `The store ${path} has rows without their parent rows. Restore it from a backup.`);
}

/** Whether `declare` would change the schema. Runs it in a transaction that is undone. */
function changesSchema(database: DatabaseSync, declare: (database: DatabaseSync) => void): boolean {
  const before = readNumber(database, 'schema_version');
  database.exec(OUTER.begin);
  try {
    declare(database);
    return readNumber(database, 'schema_version') !== before;
  } finally {
    database.exec(OUTER.rollback);
  }
}

function readNumber(database: DatabaseSync, pragma: 'user_version' | 'schema_version'): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}

/** Copies the store to a file, completely or not at all. */
function keepCopy(database: DatabaseSync, copy: string): void {
  const temporary = `${copy}.tmp`;
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    database.prepare('VACUUM INTO ?').run(temporary);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, copy);
}

function explained(error: unknown, path: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if ('errcode' in error && error.errcode === SQLITE_BUSY) {
    const message = `Another job service uses ${path}. Connect to that one, or choose another data folder.`;
    return new AppError('conflict', message, { cause: error });
  }
  const message = `The store ${path} cannot be used: ${error.message}. Move its folder away to start with a new one.`;
  return new AppError('corrupt', message, { cause: error });
}
