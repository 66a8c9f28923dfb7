import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { digestOf } from '../../core/files/digest.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { writeFailure } from '../../workspace/files/fileWriting.ts';
import { packSelection } from '../../workspace/pack/pack.ts';
import type { SelectedFile } from '../../workspace/files/selectedFile.ts';
import { filesFolderOf } from './filesFolder.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { JobFiles } from '../jobFiles/jobFiles.ts';
import type { Store } from '../store/store.ts';

const UNFINISHED = '.unfinished-backup-';

/** Names of files in a backup. The results of jobs have the same paths as in the data folder. */
export const MANIFEST = 'manifest.json';

export const STORE = 'service.db';

/** The description that a backup contains. */
export const backupManifest = z.object({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  jobs: z.int(),
  /** Jobs that had not ended; the backup has their rows, but not their files. */
  unfinished_jobs: z.int(),
  /** Jobs whose results are in the backup. */
  results: z.int(),
  /** Lowercase hexadecimal. */
  store_sha256: z.string(),
});

export interface WrittenBackup {
  readonly manifest: BackupManifest;
  readonly bytes: number;
  /** Of the file, lowercase hexadecimal. */
  readonly sha256: string;
}

export type BackupManifest = z.infer<typeof backupManifest>;

/**
 * Writes a consistent copy of the store, and the results of the jobs that had ended by then, to one `.tar.gz`, while the service
 * continues. The file appears under its name only when it is complete.
 *
 * Left out: uploads, the workspaces and output of unfinished jobs, logs of the service, and its configuration.
 *
 * @param file an absolute path where no file exists.
 * @throws AppError `conflict` if the file exists, `missing` (also for the files of jobs), `permission` or `no-space`; nothing
 * is left behind then.
 */
export async function writeBackup(store: Store, data: string, file: string): Promise<WrittenBackup> {
  if (existsSync(file)) throw new AppError('conflict', `${file} already exists. Choose another name.`);
  try {
    return await write(store, data, file);
  } catch (error) {
    throw backupFailure(error, data);
  }
}

async function write(store: Store, data: string, file: string): Promise<WrittenBackup> {
  const filesFolder = filesFolderOf(data);
  // Jobs cannot read the data folder.
  const folder = await mkdtemp(join(data, UNFINISHED));
  using _kept = store.expiry.pause();
  try {
    const copy = join(folder, STORE);
    await store.file.copyTo(copy);
    const { ids, ...counts } = readCopy(copy);
    const results = await findResults(new JobFiles(filesFolder), ids);
    const manifest: BackupManifest = {
      format: 1,
      created_at: new Date().toISOString(),
      ...counts,
      results: results.length,
      store_sha256: await digestOf(copy),
    };
    await writeFile(join(folder, MANIFEST), JSON.stringify(manifest, null, 2), { mode: 0o600 });
    const own = await Promise.all([MANIFEST, STORE].map((name) => describe(name, join(folder, name))));
    const files = [...results, ...own.filter((entry) => entry !== undefined)];
    const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
    const backup = { root: data, files, excluded: [], totalBytes, findings: [] };
    const digest = createHash('sha256');
    const packed = await packSelection(backup, file, { allowsSecrets: true, digest });
    // Once the backup is reported, somebody may delete the previous one.
    await syncFile(file);
    await syncFolder(dirname(file));
    return { manifest, bytes: packed.bytes, sha256: digest.digest('hex') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Errors without a message of ours come from the copy of the store, which is first written to the data folder. */
function backupFailure(error: unknown, data: string): unknown {
  if (isDiskFull(error)) {
    const message = `The backup was not written: the disk of the data folder ${data}, which needs room for a copy of the database, is full. Free some space and try again.`;
    return new AppError('no-space', message, { cause: error });
  }
  const failure = writeFailure(error, data);
  if (!(failure instanceof AppError) || failure.code !== 'permission') return failure;
  const message = `${failure.message} The service writes the backup as the user ${userInfo().username}; under systemd, only to folders in ReadWritePaths.`;
  return new AppError('permission', message, { cause: failure });
}

/** Removes what killed backups left in a data folder. The caller has locked its store, so none is in progress. */
export async function removeUnfinishedBackups(data: string): Promise<void> {
  for (const name of await readdir(data)) {
    if (name.startsWith(UNFINISHED)) await rm(join(data, name), { recursive: true, force: true });
  }
}

/** The IDs of ended jobs whose results were not deleted, and the number of jobs. */
function readCopy(path: string) {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const row = database
      .prepare('SELECT count(*) AS jobs, count(*) FILTER (WHERE finished_at IS NULL) AS unfinished FROM jobs')
      .get();
    const ended = database.prepare(
      'SELECT id FROM jobs WHERE finished_at IS NOT NULL AND files_removed_at IS NULL ORDER BY id',
    );
    const ids = ended.all().map((job) => String(job['id']));
    return { ids, jobs: Number(row?.['jobs']), unfinished_jobs: Number(row?.['unfinished']) };
  } finally {
    database.close();
  }
}

async function findResults(files: JobFiles, ids: readonly string[]): Promise<SelectedFile[]> {
  const found: SelectedFile[] = [];
  for (const id of ids) {
    const entry = await describe(`jobs/${id}/results.tar.gz`, files.folder(id).results);
    if (entry !== undefined) found.push(entry);
  }
  return found;
}

/** Undefined if there is no regular file: many jobs have no results, and a link in their place is not followed. */
async function describe(path: string, source: string): Promise<SelectedFile | undefined> {
  const stats = await ifThere(lstat(source), undefined);
  if (!stats?.isFile()) return undefined;
  const { size, mtimeMs } = stats;
  return { path, source, size, mtimeMs, mode: 0o644 };
}
