import * as path from 'node:path';

/**
 * The path of a file relative to a folder, with `/`, and empty for the folder itself; undefined when it lies elsewhere.
 *
 * Only a part that is `..` leads out, and not a name that begins so. On Windows a colon names a drive or a stream of a file, and is
 * refused; elsewhere it is a character like others.
 *
 * @param flavor the paths of one system, for tests; those of this one unless given.
 */
export function pathInside(folder: string, file: string, flavor: path.PlatformPath = path): string | undefined {
  const inside = flavor.relative(folder, file);
  if (inside === '..' || inside.startsWith(`..${flavor.sep}`) || flavor.isAbsolute(inside)) return undefined;
  if (flavor.sep === '\\' && inside.includes(':')) return undefined;
  return inside.split(flavor.sep).join('/');
}
