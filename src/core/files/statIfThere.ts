import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

/** What is at a path; undefined if nothing is. @throws the system's error. */
export async function statIfThere(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}
