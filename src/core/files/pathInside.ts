import * as path from 'node:path';

/**
 * The path of a file relative to a folder, with `/`, empty for the folder itself; undefined if the file is not in the folder.
 *
 * Only the component `..` leads out, not names that start with it. On Windows a colon names a drive or a stream of a file, and is refused;
 * elsewhere it is an ordinary character.
 *
 * @param flavor the path functions, for tests; those of this system by default.
 */
export function pathInside(folder: string, file: string, flavor: path.PlatformPath = path): string | undefined {
  const inside = flavor.relative(folder, file);
  if (inside === '..' || inside.startsWith(`..${flavor.sep}`) || flavor.isAbsolute(inside)) return undefined;
  if (flavor.sep === '\\' && inside.includes(':')) return undefined;
  return inside.split(flavor.sep).join('/');
}
