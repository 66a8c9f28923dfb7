import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { systemCode } from '../errors.ts';

/** What reads or opens a file or a folder; `instead` if nothing is at its path. @throws the system's other errors. */
export function ifThere<T, I>(reading: Promise<T>, instead: I): Promise<T | I> {
  return reading.catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return instead;
    throw error;
  });
}

/** What is at a path; undefined if nothing is. @throws the system's error. */
export async function statIfThere(path: string): Promise<Stats | undefined> {
  return ifThere(stat(path), undefined);
}
