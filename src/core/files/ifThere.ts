import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

/** The result of reading or opening a file or a folder; `instead` if nothing exists at its path. @throws the system's other errors. */
export function ifThere<T, I>(reading: Promise<T>, instead: I): Promise<T | I> {
  return reading.catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return instead;
    throw error;
  });
}

/** The stat of a path; undefined if nothing exists there. @throws the system's error. */
export async function statIfThere(path: string): Promise<Stats | undefined> {
  return ifThere(stat(path), undefined);
}
