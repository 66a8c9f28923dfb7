import { chmod, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { digestOf } from '../../core/files/digest.ts';
import { requireNamedFile } from '../../core/files/namedFile.ts';
import { discardStaged, type StagedArchive, stageArchive } from '../../workspace/extract/extract.ts';
import { Store } from '../store/store.ts';
import { type BackupManifest, backupManifest, MANIFEST, STORE } from './writeBackup.ts';

const RESULTS = /^jobs\/[A-Za-z0-9_-]{1,64}\/results\.tar\.gz$/;
// The archive is our own and may have any size.
const LIMITS = {
  totalBytes: Number.MAX_SAFE_INTEGER,
  entries: 100_000_000,
  folders: 100_000_000,
  components: 300_000_000,
  nameBytes: 10e9,
  seconds: 24 * 3600,
};

export interface RestoredBackup {
  readonly manifest: BackupManifest;
  /** Jobs that had not ended at the time of the backup, and are `lost` now. */
  readonly lostJobs: number;
}

/**
 * Creates a data folder from a backup, completely or not at all. Jobs that had not ended become `lost`, and their credits are
 * available again.
 *
 * @param data must not exist, or be empty.
 * @throws AppError `conflict` for a folder that is not empty, `permission` if it cannot be created, `missing` if the file does not exist, `corrupt` if it is damaged, is
 * not a backup, or its ledger does not balance.
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
    throw new AppError('bad-input', `Nothing can be restored into ${data}: ${messageOf(error)}.`, { cause: error });
  });
  if (names.length === 0) return;
  const message = `Nothing was restored, because ${data} is not empty and a service may use it. Specify a new folder with --data, or move this one away.`;
  throw new AppError('conflict', message);
}

async function stage(file: string, folder: string): Promise<StagedArchive> {
  await requireNamedFile(file, { name: `The backup ${file}` });
  try {
    return await stageArchive(file, folder, { limits: LIMITS });
  } catch (cause) {
    if (cause instanceof AppError && ['no-space', 'permission'].includes(cause.code)) throw cause;
    throw notWhole(file, messageOf(cause), cause);
  }
}

async function readManifest(file: string, { staging, entries }: StagedArchive): Promise<BackupManifest> {
  let manifest: BackupManifest;
  try {
    manifest = backupManifest.parse(JSON.parse(await readFile(join(staging, MANIFEST), 'utf8')));
  } catch (cause) {
    throw notWhole(file, 'it has no valid manifest', cause);
  }
  const results = entries.filter(({ path }) => RESULTS.test(path));
  const unknown = entries.find(({ path }) => path !== MANIFEST && path !== STORE && !RESULTS.test(path));
  if (unknown !== undefined) throw notWhole(file, `it contains the unknown file ${unknown.path}`);
  const hasStore = entries.some(({ path }) => path === STORE);
  if (!hasStore || (await digestOf(join(staging, STORE))) !== manifest.store_sha256)
    throw notWhole(file, 'its store was changed');
  if (results.length !== manifest.results) {
    throw notWhole(file, `it has the results of ${results.length} jobs instead of ${manifest.results}`);
  }
  return manifest;
}

/** Opens the store, which checks its tables and its ledger, and ends the jobs that can no longer be followed. */
function endUnfinished(folder: string, { created_at: createdAt }: BackupManifest): number {
  const store = new Store(folder);
  try {
    store.file.check();
    const jobs = store.jobs.unfinished();
    const reason = `The service was restored from a backup of ${createdAt}, when this job had not ended. Its outcome is not known, and nothing was charged.`;
    for (const job of jobs) {
      store.finish(job, { state: 'lost', finishedAt: Date.now(), exitCode: null, reason, charged: 0 }, []);
    }
    return jobs.length;
  } finally {
    store.dispose();
  }
}

function notWhole(file: string, why: string, cause?: unknown): AppError {
  const message = `Nothing was restored, because ${file} is not a complete backup: ${why.replace(/\.$/, '')}. Use another one.`;
  return new AppError('corrupt', message, { cause });
}
