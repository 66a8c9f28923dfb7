import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_WRITE = 0o002;

/**
 * Why jobs could change one of these files, in a sentence; undefined where they cannot. Jobs on a cluster are the service's user:
 * what that user owns on a shared file system, a job can replace, and the next start of the service would run it.
 *
 * @param user the id of the user that the service and its jobs run as. Root may change everything, so nothing is said of it.
 */
export function changeableByJobs(paths: readonly string[], user = process.geteuid?.()): string | undefined {
  if (user === undefined || user === 0) return undefined;
  const changeable = paths
    .map((path) => realpathSync(path))
    .flatMap((path) => [path, dirname(path)])
    .find((path) => {
      const { uid, mode } = statSync(path);
      return uid === user || (mode & OTHERS_MAY_WRITE) !== 0;
    });
  if (changeable === undefined) return undefined;
  return `jobs may be able to change ${changeable}, which this service runs: it belongs to their user, or everybody may write it. Where the nodes see it, let root own it and the folders above it.`;
}
