import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { JobRecord } from '../ledger/record.ts';

/**
 * The folder for the results of a job: the one that was sent, or the one in it that the job's profile names.
 *
 * @throws AppError `refused` if a link leads out of the folder that was sent.
 */
export async function resultsFolderOf({
  folder,
  resultsFolder,
}: Pick<JobRecord, 'folder' | 'resultsFolder'>): Promise<string> {
  if (resultsFolder === null) return folder;
  const target = join(folder, resultsFolder);
  const [root, existing] = await Promise.all([nearestRealPath(folder), nearestRealPath(target)]);
  if (pathInside(folder, target) !== undefined && pathInside(root, existing) !== undefined) return target;
  throw new AppError(
    'refused',
    `The profile puts the results into ${resultsFolder}, which leads out of ${folder}, so nothing was written. Specify a folder with --into DIR.`,
  );
}

/** The path without links of a file or folder, or of the nearest folder above it that exists. */
async function nearestRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return nearestRealPath(dirname(path));
  }
}
