import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Yielder } from '../../core/processes/yielder.ts';
import { hashFile } from '../../workspace/files/localFile.ts';
import type { ManifestEntry } from '../../workspace/pack/pack.ts';
import { sortByPath } from '../../workspace/select/pathOrder.ts';
import { selectFiles } from '../../workspace/select/selection.ts';

/** A file that differs from the one that was submitted. */
export interface FileChange {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly type: 'added' | 'changed' | 'deleted';
}

export interface ComparisonOptions {
  /** Whether git may be run in the folder. */
  readonly isTrusted: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/**
 * What has changed in a folder since its files were submitted. A file is added if the next submit would send it and the last one did not.
 *
 * @throws as `selectFiles`, or AppError if a file cannot be read.
 */
export async function changesSince(
  submitted: readonly ManifestEntry[],
  folder: string,
  { isTrusted, signal, onProgress }: ComparisonOptions,
): Promise<readonly FileChange[]> {
  const { files } = await selectFiles(folder, { isTrusted, signal });
  const before = new Set(submitted.map(({ path }) => path));
  const changes = files.flatMap(({ path }): FileChange[] => (before.has(path) ? [] : [{ path, type: 'added' }]));
  const totalBytes = submitted.reduce((sum, { size }) => sum + size, 0);
  let doneBytes = 0;
  const yielder = new Yielder(signal);
  for (const entry of submitted) {
    if (yielder.isDue) {
      onProgress?.(doneBytes, totalBytes);
      await yielder.pause();
    }
    doneBytes += entry.size;
    const type = await compare(entry, folder);
    if (type !== undefined) changes.push({ path: entry.path, type });
  }
  return sortByPath(changes, ({ path }) => path, yielder);
}

/** What changed from the files of one job to those of another. */
export async function changesBetween(
  before: readonly ManifestEntry[],
  after: readonly ManifestEntry[],
): Promise<readonly FileChange[]> {
  const hashes = new Map(before.map(({ path, sha256 }) => [path, sha256]));
  const paths = new Set(after.map(({ path }) => path));
  const changes = before.flatMap(({ path }): FileChange[] => (paths.has(path) ? [] : [{ path, type: 'deleted' }]));
  for (const { path, sha256 } of after) {
    const hash = hashes.get(path);
    if (hash !== sha256) changes.push({ path, type: hash === undefined ? 'added' : 'changed' });
  }
  return sortByPath(changes, ({ path }) => path, new Yielder());
}

async function compare(
  { path, size, sha256, isLinked }: ManifestEntry,
  folder: string,
): Promise<FileChange['type'] | undefined> {
  // Only a link that was sent is followed.
  const file = isLinked ? await realpath(join(folder, path)).catch((): undefined => undefined) : join(folder, path);
  const stats = file === undefined ? undefined : lstatSync(file, { throwIfNoEntry: false });
  if (file === undefined || stats === undefined) return 'deleted';
  if (!stats.isFile() || stats.size !== size) return 'changed';
  return (await hashFile(dirname(file), basename(file))) === sha256 ? undefined : 'changed';
}
