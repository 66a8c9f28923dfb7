import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Paths that do not exist yet, with their missing parents. Disposing it removes what was created there, unless something is in it. */
export class TemporaryPaths implements AsyncDisposable {
  readonly #tops: readonly string[];

  private constructor(tops: readonly string[]) {
    this.#tops = tops;
  }

  /** @param paths absolute. */
  static async of(paths: readonly string[]): Promise<TemporaryPaths> {
    const tops = await Promise.all(paths.map(firstMissing));
    return new TemporaryPaths(tops.filter((top) => top !== undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const top of this.#tops) await removeEmpty(top);
  }
}

/** The highest part of a path that does not exist; undefined if all of it does. */
async function firstMissing(path: string): Promise<string | undefined> {
  if ((await find(path)) !== undefined) return undefined;
  return (await firstMissing(dirname(path))) ?? path;
}

async function removeEmpty(path: string): Promise<void> {
  const found = await find(path);
  if (found === undefined) return;
  if (found.isFile) {
    if (found.bytes === 0) await rm(path);
    return;
  }
  for (const name of await readdir(path)) await removeEmpty(join(path, name));
  // Something is in it, or it is in use.
  await rmdir(path).catch(() => {});
}

async function find(path: string): Promise<{ readonly isFile: boolean; readonly bytes: number } | undefined> {
  return lstat(path).then(
    (stats) => ({ isFile: !stats.isDirectory(), bytes: stats.size }),
    () => undefined,
  );
}
