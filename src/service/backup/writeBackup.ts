import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import { packWorkspace } from '../../workspace/pack/pack.ts';
import type { SelectedFile } from '../../workspace/files/selectedFile.ts';
import { filesFolderOf } from '../folders/filesFolder.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { JobFiles } from '../jobFiles/jobFiles.ts';
import type { Store } from '../store/store.ts';
import { type BackupManifest, MANIFEST, STORE } from './backupManifest.ts';

const UNFINISHED = '.unfinished-backup-';

export interface WrittenBackup {
  readonly manifest: BackupManifest;
  readonly bytes: number;
  /** Of the file, lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes the store as it is at one moment, and the results of the jobs that had ended by then, into one `.tar.gz`, while the
 * service goes on. It appears under its name only when it is whole.
 *
 * Left out: uploads, workspaces and output of jobs that had not ended, logs of the service, and its configuration.
 *
 * @param file absolute; there must be nothing of that name.
 * @throws AppError `conflict` when the file is there, `missing` (the files of jobs too), `permission` or `no-space`; nothing is left behind then.
 */
export async function writeBackup(store: Store, data: string, file: string): Promise<WrittenBackup> {
  if (existsSync(file)) throw new AppError('conflict', `${file} is there already. Choose another name.`);
  const filesFolder = filesFolderOf(data);
  // Where no job can read it.
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
    const packed = await packWorkspace(backup, file, { allowsSecrets: true });
    // Who is told that there is a backup may remove the last one.
    await syncFile(file);
    await syncFolder(dirname(file));
    return { manifest, bytes: packed.bytes, sha256: packed.sha256 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what backups that were killed left in a data folder. The caller holds its store, so none is under way. */
export async function removeUnfinishedBackups(data: string): Promise<void> {
  for (const name of await readdir(data)) {
    if (name.startsWith(UNFINISHED)) await rm(join(data, name), { recursive: true, force: true });
  }
}

/** What the copy of the store knows: the jobs that have results, and how many there are. */
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

/** Undefined where there is no such file: many a job ends without results. One whose file was made a link has none either. */
async function describe(path: string, source: string): Promise<SelectedFile | undefined> {
  try {
    const stats = await lstat(source);
    if (!stats.isFile()) return undefined;
    const { size, mtimeMs } = stats;
    return { path, source, size, mtimeMs, mode: 0o644 };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}
