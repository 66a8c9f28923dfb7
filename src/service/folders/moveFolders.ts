import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { cp, mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import type { Logger } from '../../core/log.ts';
import { ensurePrivateFile, ensurePrivateFolder } from '../../core/files/ownFiles.ts';
import { inTransaction, openLocked } from '../store/database/database.ts';
import { StoreFile } from '../store/database/storeFile.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import { jobFolder } from '../jobFiles/jobFolder.ts';

const STORE = 'service.db';
// Later than any real version, so that programs that do not know about the move refuse the store.
const MOVED_VERSION = 1_000_000_000;

/**
 * Moves the store out of a folder that earlier versions shared with the nodes of a cluster. The old store is given up in one
 * transaction once the copy is on disk. So after an interruption exactly one of the two is the store, and the next call continues.
 *
 * @throws AppError `conflict` if both folders have a store or a service runs on the old one, `missing` if the old store was moved
 * to a third folder.
 */
export async function moveStore(from: string, data: string, log: Logger): Promise<void> {
  const source = join(from, STORE);
  if (!existsSync(source)) return;
  const target = join(data, STORE);
  const partial = `${target}.moving`;
  ensurePrivateFolder(data);
  const database = openLocked(source);
  try {
    const newHome = newHomeOf(database);
    if (newHome === undefined) {
      if (existsSync(target)) throw bothThere(from, data);
      log.info('moving the store', { from, to: data });
      rmSync(partial, { force: true });
      await new StoreFile(database).copyTo(partial);
      await keepCopies(from, data);
      await syncFolder(data);
      giveUp(database, data);
    } else if (!existsSync(partial) && !existsSync(target)) {
      const message = `The store of ${from} was moved to ${newHome}. Specify that folder:  farwharf serve --data ${newHome}`;
      throw new AppError('missing', message);
    }
    if (existsSync(partial)) renameSync(partial, target);
    await syncFolder(data);
  } finally {
    database.close();
  }
  // The store itself is deleted last: while it exists, the rest is repeated.
  for (const name of storeFiles(from)) if (name !== STORE) rmSync(join(from, name), { force: true });
  rmSync(join(from, 'admin.json'), { force: true });
  rmSync(source);
  log.info('the store was moved', { from, to: data });
}

/** The folder that a store was moved to; undefined if it is in use. */
function newHomeOf(database: DatabaseSync): string | undefined {
  if (Number(database.prepare('PRAGMA user_version').get()?.['user_version']) !== MOVED_VERSION) return undefined;
  return String(database.prepare('SELECT data FROM moved_to').get()?.['data']);
}

function giveUp(database: DatabaseSync, data: string): void {
  inTransaction(database, () => {
    database.exec('CREATE TABLE moved_to (data TEXT NOT NULL) STRICT');
    database.prepare('INSERT INTO moved_to VALUES (?)').run(data);
    database.exec(`PRAGMA user_version = ${MOVED_VERSION}`);
  });
  // Writes everything to the file itself, so that its journal can be deleted first.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Copies the backups that earlier upgrades left beside the store. */
async function keepCopies(from: string, data: string): Promise<void> {
  for (const name of storeFiles(from).filter((each) => /\.v\d+$/.test(each))) {
    const copy = join(data, name);
    copyFileSync(join(from, name), copy);
    ensurePrivateFile(copy);
    await syncFile(copy);
  }
}

function storeFiles(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith(STORE));
}

function bothThere(from: string, data: string): AppError {
  const message = `${from}, which jobs can read, and ${data} each have a store. Move the one that you don't need away, with the files beside it whose names begin with ${STORE}.`;
  return new AppError('conflict', message);
}

/**
 * Moves the files of jobs and uploads out of the data folder, where a restore or the executor `process` put them. It can be
 * interrupted and repeated: each job's files are complete in one of the two places.
 *
 * @throws AppError `conflict` while jobs run there.
 */
export async function moveFiles(
  data: string,
  files: string,
  { unfinished, log }: { readonly unfinished: readonly { readonly id: string }[]; readonly log: Logger },
): Promise<void> {
  const from = join(data, 'jobs');
  const running = unfinished.filter(({ id }) => existsSync(jobFolder(join(from, id)).claim));
  if (running.length > 0) {
    const message = `${running.length} jobs run on this machine, with their files in ${from}. Start the service with executor = "process" until they have ended.`;
    throw new AppError('conflict', message);
  }
  for (const kind of ['jobs', 'uploads']) await moveAll(join(data, kind), join(files, kind), log);
}

async function moveAll(from: string, to: string, log: Logger): Promise<void> {
  if (!existsSync(from)) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  const names = await readdir(from);
  if (names.length > 0) log.info('moving files of jobs', { from, to, count: names.length });
  for (const name of names) {
    if (existsSync(join(to, name))) await removeTree(join(from, name));
    else await move(join(from, name), join(to, name));
  }
  await syncFolder(to);
  await rmdir(from);
}

async function move(from: string, to: string): Promise<void> {
  try {
    return await rename(from, to);
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  // An interrupted copy has this name, which is not a job's, so the next start removes it.
  const partial = `${to}.moving`;
  await removeTree(partial);
  await cp(from, partial, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const { results } = jobFolder(partial);
  if (existsSync(results)) await syncFile(results);
  await rename(partial, to);
  await removeTree(from);
}
