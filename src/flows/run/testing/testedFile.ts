import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { pathInside } from '../../../core/files/pathInside.ts';

/**
 * The flow file that a test runs. A test written by others must not run anything outside its own folder.
 *
 * @param test the path of the test.
 * @param file as the test names it.
 * @param root the folder that the test was found in.
 * @throws AppError `refused` for a file outside the folder of the test, and for a test outside its root, with links resolved.
 */
export async function testedFile(test: string, file: string, root: string): Promise<string> {
  const folder = dirname(test);
  const path = resolve(folder, file);
  const isInside = async (inner: string, outer: string): Promise<boolean> =>
    pathInside(outer, inner) !== undefined && pathInside(await realPath(outer), await realPath(inner)) !== undefined;
  if (!(await isInside(path, folder))) {
    const message = `The test ${test} runs ${file}, which is outside the folder of the test, so nothing was run. Put the test beside its flow.`;
    throw new AppError('refused', message);
  }
  if (!(await isInside(test, root))) {
    const message = `The test ${test} is outside the folder ${root}, so nothing was run. Open the test's own folder to run it.`;
    throw new AppError('refused', message);
  }
  return path;
}

/** A path with links resolved; unchanged if nothing is there, which the run then reports. */
async function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
