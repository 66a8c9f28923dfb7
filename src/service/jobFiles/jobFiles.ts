import { existsSync, mkdirSync } from 'node:fs';
import { chmod, readdir, rename } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { LOCAL_ACCOUNT } from '../store/accounts/accountTable.ts';
import { openFolder, removeTree } from './removeTree.ts';
import { type JobFolder, jobFolder } from './jobFolder.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';

/** Job IDs are checked with this before they become part of a path. */
export const JOB_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The folder of all jobs' files. */
export class JobFiles {
  /** The folder of the jobs' folders. */
  readonly root: string;

  constructor(filesFolder: string) {
    this.root = join(filesFolder, 'jobs');
    mkdirSync(this.root, { recursive: true, mode: 0o700 });
  }

  /** The paths of a job's files, whether they exist or not. `id` must be one of the service's own. */
  folder(id: string): JobFolder {
    return jobFolder(join(this.root, id));
  }

  /** @throws AppError `unreachable` if the folder of all jobs is missing, as on a shared file system that was unmounted. */
  requireThere(): void {
    if (existsSync(this.root)) return;
    const message = `The files of jobs can't be reached, because their file system may not be mounted. Nothing is decided or deleted until it is back.`;
    throw new AppError('unreachable', message);
  }

  /** Creates the folder of a job if it is missing. @throws as `requireThere`: the folder of a lost file system is not created anew. */
  makeFolder(id: string): JobFolder {
    this.requireThere();
    const folder = this.folder(id);
    mkdirSync(folder.path, { recursive: true, mode: 0o700 });
    return folder;
  }

  /**
   * A text for the account of a job. Only the operator's own account sees paths of the service; other accounts see them relative to the
   * job's folder.
   */
  withoutPaths(text: string, { id, account }: Pick<StoredJob, 'id' | 'account'>): string {
    if (account === LOCAL_ACCOUNT) return text;
    const { path } = this.folder(id);
    return text
      .replaceAll(path + sep, '')
      .replaceAll(path, 'the folder of the job')
      .replaceAll(this.root, 'the folder of jobs');
  }

  /** Deletes what a crash left behind: uploads that never became a job, and files that ended jobs do not need. */
  async sweep(find: (id: string) => StoredJob | undefined, log: Logger): Promise<void> {
    await using root = await openFolder(this.root);
    for (const id of await readdir(root.path)) {
      const job = find(id);
      try {
        if (job === undefined || job.filesRemovedAt !== null) await removeFrom(root.path, id);
        else if (job.finishedAt !== null) await removeUnneeded(this.folder(id), job);
      } catch (error) {
        log.warn('files of a job could not be deleted', { id, error });
      }
    }
  }

  /** Deletes the folder of a job. It disappears at once, so a runner that starts meanwhile finds all of it or nothing. */
  async remove(id: string): Promise<void> {
    await using root = await openFolder(this.root);
    await removeFrom(root.path, id);
  }
}

async function removeFrom(root: string, id: string): Promise<void> {
  const removed = join(root, `${id}.removed`);
  await removeTree(removed);
  try {
    await rename(join(root, id), removed);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  await removeTree(removed);
}

/** Deletes what a run of a job left, so that it can start from its beginning: everything except what its workspace is written from. */
export async function removeRun(folder: JobFolder): Promise<void> {
  await using open = await openFolder(folder.path);
  // If the folder was shared with the user of the job, that ends here.
  await chmod(open.path, 0o700);
  // A cancellation that came meanwhile counts for the next run.
  const keptNames = new Set(
    [folder.archive, folder.returned, folder.cancel, folder.claim].map((path) => basename(path)),
  );
  for (const name of await readdir(open.path)) if (!keptNames.has(name)) await removeTree(join(open.path, name));
  // Last: until then, a service that starts knows that the job is to be taken back.
  await removeTree(join(open.path, basename(folder.claim)));
}

/** Deletes everything except the packed results. A job that ran but has no packed results, or not all of them, keeps its files. */
export async function removeUnneeded(folder: JobFolder, job: StoredJob): Promise<void> {
  const [results, incomplete] = [basename(folder.results), basename(folder.incomplete)];
  if (!existsSync(folder.path)) return;
  await using open = await openFolder(folder.path);
  // If the folder was shared with the user of the job, that ends here.
  await chmod(open.path, 0o700);
  const names = await readdir(open.path);
  if (job.startedAt !== null && (!names.includes(results) || names.includes(incomplete))) return;
  for (const name of names) {
    if (name !== results) await removeTree(join(open.path, name));
  }
}
