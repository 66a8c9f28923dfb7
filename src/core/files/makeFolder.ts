import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../errors.ts';

/**
 * Creates a folder that only this user can read, and missing parent folders.
 *
 * Node.js's own `recursive` hides why the system refuses: on a read-only disk it reports that the folder does not exist.
 *
 * @throws the system's error for the outermost folder that cannot be created.
 */
export function makeFolder(path: string): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const isThere = systemCode(error) === 'EEXIST' && statSync(path).isDirectory();
    if (!isThere) throw error;
  }
}
