import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_WRITE = 0o002;

/**
 * A sentence about a file that jobs could change; undefined if they cannot. Jobs on a cluster run as the service's user, so they can
 * replace what that user owns on a shared file system, and the next start of the service would run it.
 *
 * @param user the ID of the user that the service and its jobs run as. Root can change everything, so it is not checked.
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
  return `jobs may be able to change ${changeable}, which this service runs: it belongs to their user, or everyone can write it. If the nodes see it, make root the owner of it and of the folders above it.`;
}
