import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../errors.ts';

/** The path without links of a file or folder, or of the nearest folder above it that exists. */
export async function nearestRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return nearestRealPath(dirname(path));
  }
}
