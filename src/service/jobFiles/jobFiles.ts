import { existsSync, mkdirSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { openFolder } from './openFolder.ts';
import { removeTree } from './removeTree.ts';
import { type JobFolder, jobFolder } from './jobFolder.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';

/** Ids of jobs, checked before one becomes part of a path. */
export const JOB_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The folder of all jobs' files. */
export class JobFiles {
  readonly #root: string;

  constructor(filesFolder: string) {
    this.#root = join(filesFolder, 'jobs');
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  /** Where a job's files are, whether they exist or not. `id` is one of the service's own. */
  folder(id: string): JobFolder {
    return jobFolder(join(this.#root, id));
  }

  /** Removes what a crash left behind: uploads that never became a job, and what jobs that have ended do not need. */
  async sweep(find: (id: string) => StoredJob | undefined, log: Logger): Promise<void> {
    await using root = await openFolder(this.#root);
    for (const id of await readdir(root.path)) {
      const job = find(id);
      try {
        if (job === undefined || job.filesRemovedAt !== null) await removeFrom(root.path, id);
        else if (job.finishedAt !== null) await removeUnneeded(this.folder(id), job);
      } catch (error) {
        log.warn('files of a job could not be removed', { id, error });
      }
    }
  }

  /** Removes the folder of a job. It is gone as a whole at once: a runner that starts meanwhile finds it or does not. */
  async remove(id: string): Promise<void> {
    await using root = await openFolder(this.#root);
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

/** Removes what cannot be asked for any more: everything but the packed results, where there are any to lose. */
export async function removeUnneeded(folder: JobFolder, job: StoredJob): Promise<void> {
  const results = basename(folder.results);
  if (!existsSync(folder.path)) return;
  await using open = await openFolder(folder.path);
  const names = await readdir(open.path);
  if (job.startedAt !== null && !names.includes(results)) return;
  for (const name of names) {
    if (name !== results) await removeTree(join(open.path, name));
  }
}
