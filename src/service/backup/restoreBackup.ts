import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { discardStaged, type StagedArchive, stageArchive } from '../../workspace/extract/extract.ts';
import { Store } from '../store/store.ts';
import { type BackupManifest, backupManifest, MANIFEST, STORE } from './backupManifest.ts';

const RESULTS = /^jobs\/[A-Za-z0-9_-]{1,64}\/results\.tar\.gz$/;
// Ours, of any size: results are packed already, and an empty store packs well.
const LIMITS = {
  totalBytes: Number.MAX_SAFE_INTEGER,
  entries: 100_000_000,
  folders: 100_000_000,
  components: 300_000_000,
  nameBytes: 10e9,
  ratio: Number.MAX_SAFE_INTEGER,
  seconds: 24 * 3600,
};

export interface RestoredBackup {
  readonly manifest: BackupManifest;
  /** Jobs that had not ended when the backup was made, and are `lost` now. */
  readonly lostJobs: number;
}

/**
 * Makes a data folder out of a backup: all of it at once, or nothing. Jobs that had not ended are `lost`, and their credits
 * are available again.
 *
 * @param data must not be there, or be empty.
 * @throws AppError `conflict` for a folder with something in it, `missing` for no such file, `corrupt` for one that is
 * damaged or no backup, or whose ledger does not balance.
 */
export async function restoreBackup(file: string, data: string): Promise<RestoredBackup> {
  await refuseUsed(data);
  await mkdir(dirname(data), { recursive: true });
  const staged = await stage(file, dirname(data));
  try {
    const manifest = await readManifest(file, staged);
    const lostJobs = endUnfinished(staged.staging, manifest);
    await rm(join(staged.staging, MANIFEST));
    await chmod(staged.staging, 0o700);
    await chmod(join(staged.staging, STORE), 0o600);
    await rename(staged.staging, data);
    return { manifest, lostJobs };
  } finally {
    await discardStaged(staged);
  }
}

async function refuseUsed(data: string): Promise<void> {
  const names = await readdir(data).catch((error: unknown): string[] => {
    if (systemCode(error) === 'ENOENT') return [];
    throw new AppError('bad-input', `${data} cannot be restored into: ${messageOf(error)}.`, { cause: error });
  });
  if (names.length === 0) return;
  const message = `${data} is not empty, so nothing was restored: a service may use it. Name a new folder with --data, or move this one away.`;
  throw new AppError('conflict', message);
}

async function stage(file: string, folder: string): Promise<StagedArchive> {
  if (!existsSync(file)) throw new AppError('missing', `There is no backup ${file}.`);
  try {
    return await stageArchive(file, folder, { limits: LIMITS });
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'no-space') throw cause;
    throw notWhole(file, messageOf(cause), cause);
  }
}

async function readManifest(file: string, { staging, entries }: StagedArchive): Promise<BackupManifest> {
  let manifest: BackupManifest;
  try {
    manifest = backupManifest.parse(JSON.parse(await readFile(join(staging, MANIFEST), 'utf8')));
  } catch (cause) {
    throw notWhole(file, 'it does not say what it is', cause);
  }
  const results = entries.filter(({ path }) => RESULTS.test(path));
  const strange = entries.find(({ path }) => path !== MANIFEST && path !== STORE && !RESULTS.test(path));
  if (strange !== undefined) throw notWhole(file, `nobody knows what ${strange.path} is`);
  const store = entries.find(({ path }) => path === STORE);
  if (store?.sha256 !== manifest.store_sha256) throw notWhole(file, 'its store is not the one that was put in');
  if (results.length !== manifest.results) {
    throw notWhole(file, `it has the results of ${results.length} jobs, and ${manifest.results} were put in`);
  }
  return manifest;
}

/** Opens the store, which checks its tables and its ledger, and ends what nobody can follow any more. */
function endUnfinished(folder: string, { created_at: createdAt }: BackupManifest): number {
  const store = new Store(folder);
  try {
    store.file.check();
    const jobs = store.jobs.unfinished();
    const reason = `The service was restored from a backup of ${createdAt}, when this job had not ended. How it went on is not known; nothing was charged.`;
    for (const job of jobs) {
      store.finish(job, { state: 'lost', finishedAt: Date.now(), exitCode: null, reason, charged: 0 }, []);
    }
    return jobs.length;
  } finally {
    store.dispose();
  }
}

function notWhole(file: string, why: string, cause?: unknown): AppError {
  const message = `${file} is not a whole backup, so nothing was restored: ${why.replace(/\.$/, '')}. Use another one.`;
  return new AppError('corrupt', message, { cause });
}
