import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { writeAtomicallySync } from '../../core/files/atomicFile.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { ensureUnlistedFolder } from '../../core/files/ownFiles.ts';

/** In the data folder: where the files of jobs are, if they are elsewhere. */
const record = z.object({
  folder: z.string(),
  /** Identifies the service that uses the folder. */
  id: z.string(),
  /** Whether the folder has been marked as this service's own. */
  isClaimed: z.boolean(),
});
type FilesRecord = z.infer<typeof record>;

/** In the shared folder: the service that it belongs to. */
const owner = z.object({ id: z.string(), data: z.string(), host: z.string() });
type FolderOwner = z.infer<typeof owner>;

/**
 * The folder with the files of jobs and uploads: the data folder itself, or the one that the service shares with the nodes of a
 * cluster.
 *
 * @throws AppError `missing` if that folder does not exist, such as on a file system that is not mounted; `corrupt` for a record
 * that cannot be read.
 */
export function filesFolderOf(data: string): string {
  const known = readRecord(data);
  if (known === undefined) return data;
  if (known.isClaimed && readOwner(known.folder)?.id !== known.id) throw notThere(data, known.folder);
  return known.folder;
}

/**
 * Makes `shared` the folder with the files of this service's jobs, for good. A folder that was moved with all its contents is
 * recognized. The caller has locked the store of the data folder.
 *
 * @throws AppError `conflict` if the folder belongs to another service, or this service has files elsewhere; `missing` if its
 * files are gone, `permission` if the folder belongs to another user.
 */
export function claimFilesFolder(data: string, shared: string): void {
  const known = readRecord(data);
  const found = readOwner(shared);
  if (found !== undefined && found.id !== known?.id) throw anothers(shared, found);
  if (known?.isClaimed === true && found === undefined) {
    if (known.folder === shared) throw notThere(data, shared);
    const message = `The files of jobs are in ${known.folder}, and ${shared} has none of them. Move that folder to ${shared} with all its contents, or set it in the configuration:  [slurm] folder = ${JSON.stringify(known.folder)}`;
    throw new AppError('conflict', message);
  }
  // Persons may have to pass it to the folders of their jobs.
  ensureUnlistedFolder(shared);
  const id = known?.id ?? randomUUID();
  // The owner is written between two records, so that after an interruption this service recognizes itself.
  if (found === undefined) {
    writeRecord(recordOf(data), { folder: shared, id, isClaimed: false });
    writeRecord(ownerOf(shared), { id, data, host: hostname() });
  }
  writeRecord(recordOf(data), { folder: shared, id, isClaimed: true });
}

/** @throws AppError `bad-input` if one of the folders is inside the other. */
export function refuseNested(data: string, shared: string): void {
  if (pathInside(shared, data) === undefined && pathInside(data, shared) === undefined) return;
  const message = `The data folder ${data} and the folder of jobs' files, ${shared}, must be separate: jobs on the nodes can access everything in the latter, and the data folder has the store with keys and credits. Choose a data folder on a disk of this machine:  farwharf serve --data /var/lib/farwharf  (a store in ${shared} is moved there).`;
  throw new AppError('bad-input', message);
}

function readRecord(data: string): FilesRecord | undefined {
  return readChecked(recordOf(data), record);
}

function readOwner(shared: string): FolderOwner | undefined {
  return readChecked(ownerOf(shared), owner);
}

function readChecked<T>(path: string, schema: z.ZodType<T>): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const message = `${path} was changed by another program. Restore it from a copy of the folder.`;
    throw new AppError('corrupt', message, { cause });
  }
}

function writeRecord(path: string, record: FilesRecord | FolderOwner): void {
  writeAtomicallySync(path, JSON.stringify(record, null, 2), { isDurable: true });
}

function recordOf(data: string): string {
  return join(resolve(data), 'files.json');
}

function ownerOf(shared: string): string {
  return join(shared, 'farwharf.json');
}

function notThere(data: string, folder: string): AppError {
  const message = `The files of jobs are in ${folder}, which is missing or empty: its file system may not be mounted. Mount it, then try again. (${recordOf(data)} records the location.)`;
  return new AppError('missing', message);
}

function anothers(shared: string, { data, host }: FolderOwner): AppError {
  const message = `${shared} has the files of another service's jobs, whose data folder is ${data} on ${host}. Set another folder in [slurm]. If that service is gone for good, delete ${ownerOf(shared)}; files of jobs that this service does not know are then deleted.`;
  return new AppError('conflict', message);
}
