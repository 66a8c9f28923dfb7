import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { writeAtomicallySync } from '../../core/files/atomicFile.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { ensurePrivateFolder } from '../../core/files/ownFiles.ts';

/** In the data folder: where the files of jobs are when they are not there. */
const record = z.object({
  folder: z.string(),
  /** Tells the service that uses the folder from any other. */
  id: z.string(),
  /** Whether the folder has been marked as this service's own. */
  isClaimed: z.boolean(),
});
type FilesRecord = z.infer<typeof record>;

/** In the shared folder: whose it is. */
const owner = z.object({ id: z.string(), data: z.string(), host: z.string() });
type FolderOwner = z.infer<typeof owner>;

/**
 * The folder with the files of a service's jobs and its uploads: the data folder itself, or the one that it shares with the nodes
 * of a cluster.
 *
 * @throws AppError `missing` when that folder is not there, as a file system that is not mounted; `corrupt` for a record that
 * cannot be read.
 */
export function filesFolderOf(data: string): string {
  const known = readRecord(data);
  if (known === undefined) return data;
  if (known.isClaimed && readOwner(known.folder)?.id !== known.id) throw notThere(data, known.folder);
  return known.folder;
}

/**
 * Makes `shared` the folder with the files of this service's jobs, for good. A folder that was moved with all that is in it is
 * found again. The caller holds the store of the data folder.
 *
 * @throws AppError `conflict` when the folder is another service's, or other files of this service are elsewhere; `missing` when
 * what was there is not, `permission` when the folder is another user's.
 */
export function claimFilesFolder(data: string, shared: string): void {
  const known = readRecord(data);
  const found = readOwner(shared);
  if (found !== undefined && found.id !== known?.id) throw anothers(shared, found);
  if (known?.isClaimed === true && found === undefined) {
    if (known.folder === shared) throw notThere(data, shared);
    const message = `The files of jobs are in ${known.folder}, and ${shared} has none of them. Move that folder to ${shared} with all that is in it, or name it in the configuration:  [slurm] folder = ${JSON.stringify(known.folder)}`;
    throw new AppError('conflict', message);
  }
  ensurePrivateFolder(shared);
  const id = known?.id ?? randomUUID();
  // The mark comes between: whatever is interrupted, this service recognizes its own mark.
  if (found === undefined) {
    writeRecord(recordOf(data), { folder: shared, id, isClaimed: false });
    writeRecord(ownerOf(shared), { id, data, host: hostname() });
  }
  writeRecord(recordOf(data), { folder: shared, id, isClaimed: true });
}

/** Refuses folders of which one lies in the other. @throws AppError `bad-input` with what to write instead. */
export function refuseNested(data: string, shared: string): void {
  if (pathInside(shared, data) === undefined && pathInside(data, shared) === undefined) return;
  const message = `The data folder ${data} and the folder of jobs' files, ${shared}, must be apart: jobs on the nodes reach all of the latter, and the data folder has the store, with its keys and credits. Name a data folder on a disk of this machine:  farwharf serve --data /var/lib/farwharf  (a store that is in ${shared} is carried over).`;
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
    const message = `${path} was changed by something else than Farwharf. Restore it from a copy of the folder.`;
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
  const message = `The files of jobs are in ${folder}, and that is not there or was emptied: the file system may not be mounted. Mount it, then try again. (${recordOf(data)} says where they are.)`;
  return new AppError('missing', message);
}

function anothers(shared: string, { data, host }: FolderOwner): AppError {
  const message = `${shared} has the files of another service's jobs, whose data folder is ${data} on ${host}. Name another folder in [slurm]. Where that service is gone for good, remove ${ownerOf(shared)} first; files of jobs that this service does not know are removed then.`;
  return new AppError('conflict', message);
}
