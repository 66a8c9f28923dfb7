import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { nearest } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';

/**
 * Checks that each path to include exists.
 *
 * @param origin where the paths come from.
 * @throws AppError `missing` for the first path that does not exist, with the nearest name.
 */
export async function checkIncluded(folder: string, paths: readonly string[], origin = '--include'): Promise<void> {
  for (const path of paths) {
    if (await isThere(folder, path)) continue;
    const where = `Paths are relative to ${folder}; patterns are not supported.`;
    const what = `${origin} ${path} does not exist, so nothing was sent.`;
    throw new AppError('missing', printableLine(`${what}${await suggest(folder, path)} ${where}`));
  }
}

/** A note for each path of `--exclude` that does not exist: it may be misspelt, or removed since. */
export async function describeMissingExcludes(folder: string, paths: readonly string[]): Promise<string[]> {
  const remarks: string[] = [];
  for (const path of paths) {
    if (await isThere(folder, path)) continue;
    remarks.push(
      printableLine(`  note: --exclude ${path} has no effect: the path does not exist.${await suggest(folder, path)}`),
    );
  }
  return remarks;
}

async function isThere(folder: string, path: string): Promise<boolean> {
  const stats = await lstat(resolve(folder, path)).catch((): undefined => undefined);
  return stats !== undefined;
}

/** Suggests the nearest name in the same folder: people misspell the last part of a path most often. */
async function suggest(folder: string, path: string): Promise<string> {
  const names = await readdir(resolve(folder, dirname(path))).catch((): string[] => []);
  const name = nearest(basename(path), names);
  return name === undefined ? '' : ` Did you mean ${join(dirname(path), name)}?`;
}
