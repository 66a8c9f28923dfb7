import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { nearestRealPath } from '../../core/files/realPaths.ts';
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
