import { realpath, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { withoutByteOrderMark } from '../../core/text/textEncoding.ts';
import { formatBytes } from '../../core/text/format.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';

/** Lock files of large projects have a few megabytes. */
export const MAX_PACKAGE_BYTES = 32e6;

/** A file that decides which packages are installed. */
export interface PackageFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly text: string;
  /** Whether its tool does without it. */
  readonly isOptional?: boolean;
}

/**
 * Reads a file of the folder. A path or a link that leads out of it counts as missing, so that nothing else is read for a folder.
 *
 * @throws AppError `missing` if it does not exist, `bad-input` if it is too large.
 */
export async function readPackageFile(root: string, path: string): Promise<PackageFile> {
  const real = await realpath(join(root, path)).catch(() => undefined);
  const stats =
    real !== undefined && pathInside(await realpath(root), real) !== undefined ? await stat(real) : undefined;
  if (real === undefined || stats?.isFile() !== true)
    throw new AppError('missing', `The folder has no ${path}. Add it or correct "requirements", then submit again.`);
  if (stats.size > MAX_PACKAGE_BYTES) {
    const message = `${path} has ${formatBytes(stats.size)}, and lists of packages may have at most ${formatBytes(MAX_PACKAGE_BYTES)}.`;
    throw new AppError('bad-input', message);
  }
  return {
    path: normalize(path).replaceAll('\\', '/'),
    text: withoutByteOrderMark(await readNamedFile(real, { name: path, maxBytes: MAX_PACKAGE_BYTES })),
  };
}
