import { glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Each process costs a tenth of a second of processor time, and parses again what the sources of its tests share. */
const FILES_PER_GROUP = 12;

/**
 * Writes files that each import neighbouring test files, so that these share a process.
 *
 * @param root contains the folders `test` and `out`.
 * @param isIncluded decides which test files belong to a group, by path relative to `root`.
 * @returns the paths of the files.
 */
export async function writeUnitGroups(root: string, isIncluded: (path: string) => boolean): Promise<string[]> {
  const found = await Array.fromAsync(glob(['test/unit/**/*.test.ts', 'test/fuzz/*.test.ts'], { cwd: root }));
  const files = found
    .map((path) => path.replaceAll('\\', '/'))
    .filter(isIncluded)
    .toSorted()
    .reverse(); // the areas at the end of the alphabet take longest, and must not start last
  const folder = join(root, 'out', 'groups');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const groups: string[] = [];
  while (files.length > 0) {
    const imports = files
      .splice(0, FILES_PER_GROUP)
      .map((path) => `import '${pathToFileURL(join(root, path)).href}';\n`);
    const path = join(folder, `${String(groups.length + 1).padStart(2, '0')}.mjs`);
    await writeFile(path, imports.join(''));
    groups.push(path);
  }
  return groups;
}
