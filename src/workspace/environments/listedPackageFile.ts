import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { formatBytes } from '../../core/text/format.ts';

/** Lock files of large projects have a few megabytes. */
const MAX_BYTES = 32e6;

/** A file that decides which packages are installed. */
export interface ListedFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads a file of the folder. A path or a link that leads out of it counts as missing, so that nothing else is read for a folder.
 *
 * @throws AppError `missing` if it does not exist, `bad-input` if it is too large.
 */
export function readListedFile(root: string, path: string): ListedFile {
  const real = realPath(join(root, path));
  if (real === undefined || pathInside(realpathSync(root), real) === undefined || !statSync(real).isFile()) {
    throw new AppError('missing', `The folder has no ${path}. Add it or correct "requirements", then submit again.`);
  }
  const { size } = statSync(real);
  if (size > MAX_BYTES) {
    const message = `${path} has ${formatBytes(size)}, and lists of packages may have at most ${formatBytes(MAX_BYTES)}.`;
    throw new AppError('bad-input', message);
  }
  return { path: normalize(path).replaceAll('\\', '/'), text: readFileSync(real, 'utf8') };
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
