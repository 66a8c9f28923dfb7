import { readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathInside } from '../../core/files/pathInside.ts';

const DELETED = ' (deleted)';

/**
 * Whether an open file is the one at `path` in a folder, rather than one reached through a link: a folder above it may have been
 * replaced by a link since it was checked. `realRoot` is the folder's path without links.
 *
 * Linux reports the path of an open file. Elsewhere the path is resolved again, which leaves a moment in which it may change.
 *
 * @param platform for tests; this system by default.
 */
export function isOpenedInside(
  descriptor: number,
  realRoot: string,
  path: string,
  platform: string = process.platform,
): boolean {
  const expected = join(realRoot, path);
  if (platform !== 'linux') return isResolvedInside(expected, realRoot);
  try {
    const target = readlinkSync(`/proc/self/fd/${descriptor}`);
    return target === expected || target === expected + DELETED;
  } catch {
    return isResolvedInside(expected, realRoot); // no /proc here
  }
}

function isResolvedInside(absolute: string, realRoot: string): boolean {
  try {
    return pathInside(realRoot, realpathSync.native(absolute)) !== undefined;
  } catch {
    return false;
  }
}
