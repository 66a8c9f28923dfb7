import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The path of a program in a search path like PATH; undefined if it has none. Relative folders are skipped, because they mean something
 * else in each working folder.
 */
export function findProgram(name: string, searchPath: string): string | undefined {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, file)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  return isAccessible(path, constants.X_OK) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Whether a path exists and this process may access it. @param mode a sum of `constants`, such as `X_OK`. */
export function isAccessible(path: string, mode?: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
