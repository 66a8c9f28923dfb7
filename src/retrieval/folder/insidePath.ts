import { isAbsolute, relative, sep } from 'node:path';

/** A path below one of these folders, relative and with '/', empty for the folder itself; undefined for others. */
export function insidePath(path: string, folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    const inside = relative(folder, path);
    if (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return inside.split(sep).join('/');
  }
  return undefined;
}
