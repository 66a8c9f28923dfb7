import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathInside } from '../../core/files/pathInside.ts';

// On Windows, two slashes begin the name of another machine, which must not be contacted.
const ABSOLUTE = /^(?:\/(?!\/)|~\/|[A-Za-z]:[\\/])/;

/** Whether a text is an absolute path, or one below the user's home. */
export function isMachinePath(text: string): boolean {
  return ABSOLUTE.test(text);
}

/**
 * Where in the folder an absolute path is, with `/`, and null if it is elsewhere below the user's home, where people keep data. Undefined
 * for what does not exist, and for paths of the system, which other machines may have as well.
 *
 * @param root the folder, as an absolute path.
 */
export async function placeOfMachinePath(root: string, path: string): Promise<string | null | undefined> {
  const file = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
  const inside = pathInside(root, file);
  if (inside === undefined && !pathInside(homedir(), file)) return undefined;
  const stats = await lstat(file).catch(() => undefined);
  return stats === undefined ? undefined : (inside ?? null);
}
