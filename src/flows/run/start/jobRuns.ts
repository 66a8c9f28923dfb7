import { join } from 'node:path';
import { statSync } from 'node:fs';
import { AppError } from '../../../core/errors.ts';

/** The folder with the runs among the results of jobs. */
const RUNS_FOLDER = 'farwharf-flow';

/**
 * The folder of the run of a job, relative to its results. Each job has its own, because those of several jobs, of one flow or of
 * several, come home into the same folder, and are sent with the next job.
 *
 * @param file the flow file, relative to the workspace. @param run a name that no other job has.
 */
export function jobRunFolder(file: string, run: string): string {
  return join(RUNS_FOLDER, file, run);
}

/** Whether the path of a result is that of the record of a run. */
export function isRunRecord(path: string): boolean {
  return /(?:^|\/)farwharf-flow\/(?:.+\/)?run\.json$/.test(path);
}

/**
 * The path in a folder of the flow file whose path on another machine is known: its longest end that is a file here. A job can name any
 * path, so nothing outside of the folder is taken.
 *
 * @throws AppError `missing` if the folder has no such file.
 */
export function jobFileIn(folder: string, file: string): string {
  const parts = file.split(/[/\\]/);
  for (let start = parts.lastIndexOf('..') + 1; start < parts.length; start += 1) {
    const path = parts.slice(start).join('/');
    if (statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true) return path;
  }
  throw new AppError('missing', `${parts.at(-1)} is no longer in ${folder}, so its run cannot continue.`);
}
