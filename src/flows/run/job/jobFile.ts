import { statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../core/errors.ts';

/**
 * The path in a folder of the flow file whose path on another machine is known: its longest end that is a file here. A job can name any
 * path, so nothing outside of the folder is taken.
 *
 * @throws AppError `missing` if the folder has no such file.
 */
export function jobFileIn(folder: string, file: string): string {
  const parts = file.split(/[/\\]/);
  for (let start = parts.lastIndexOf('..') + 1; start < parts.length; start += 1) {
    const path = parts.slice(start).join('/');
    if (statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true) return path;
  }
  throw new AppError('missing', `${parts.at(-1)} is no longer in ${folder}, so its run cannot continue.`);
}
