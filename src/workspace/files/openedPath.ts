import { readlinkSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';

const DELETED = ' (deleted)';

/**
 * Whether an open file is the one at `path` of a folder, and not one that a link led to: a folder above it may have become a link
 * since it was looked at. `realRoot` is the folder's path without links.
 *
 * Linux tells where an open file lies. Elsewhere the path is resolved once more, which leaves an instant in which it may change.
 */
export function isOpenedInside(descriptor: number, realRoot: string, path: string): boolean {
  const expected = join(realRoot, path);
  if (process.platform !== 'linux') return isResolvedInside(expected, realRoot);
  try {
    const opened = readlinkSync(`/proc/self/fd/${descriptor}`);
    return opened === expected || opened === expected + DELETED;
  } catch {
    return isResolvedInside(expected, realRoot); // there is no /proc
  }
}

function isResolvedInside(absolute: string, realRoot: string): boolean {
  try {
    return realpathSync.native(absolute).startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
  } catch {
    return false;
  }
}
