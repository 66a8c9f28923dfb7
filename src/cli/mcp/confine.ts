import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { nearestRealPath } from '../../core/files/realPaths.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isProtectedPath } from '../../workspace/results/protectedNames.ts';

/**
 * The absolute path of a file or folder that a tool names, which need not exist.
 *
 * @param root the folder of the tools, without links.
 * @throws AppError `refused` if it is outside of the folder, also through a link, or if git, editors or shells act on its name.
 */
export async function confined(root: string, path: string): Promise<string> {
  const target = resolve(root, path);
  const existing = await nearestRealPath(target);
  const inside = pathInside(root, target);
  if (inside === undefined || pathInside(root, existing) === undefined || path.includes('\0')) {
    throw new AppError('refused', `${printableLine(path)} is outside of the folder ${root}. Name a path inside of it.`);
  }
  if (isProtectedPath(inside) || isProtectedPath(pathInside(root, existing) ?? '')) {
    const message = `${printableLine(path)} is not available to tools, because git, editors or shells act on it. Name another path.`;
    throw new AppError('refused', message);
  }
  return target;
}

/** The path of an existing file. @throws as `confined`, and AppError `missing`. */
export async function confinedFile(root: string, path: string): Promise<string> {
  const file = await confined(root, path);
  const found = await stat(file).catch((): undefined => undefined);
  if (found?.isFile() === true) return file;
  throw new AppError('missing', `The file ${printableLine(path)} does not exist in the folder.`);
}
