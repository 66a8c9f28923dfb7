import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PackageList } from '../../../workspace/environments/packageList.ts';

/** What a build of packages that later jobs use has in place of the workspace, of which it must not depend on anything else. */
export interface BuildFolder {
  /** Has the files of the list, as they were when they were hashed, and nothing else. */
  readonly lists: string;
  /** An empty folder. */
  readonly empty: string;
}

/** @param path the folder to create. What an earlier attempt left is removed. */
export function makeBuildFolder(path: string, { files }: Pick<PackageList, 'files'>): BuildFolder {
  rmSync(path, { recursive: true, force: true });
  const folder = { lists: join(path, 'lists'), empty: join(path, 'empty') };
  for (const each of Object.values(folder)) mkdirSync(each, { recursive: true, mode: 0o700 });
  for (const file of files) {
    const copy = join(folder.lists, file.path);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    writeFileSync(copy, file.text, { mode: 0o400 });
  }
  for (const each of Object.values(folder)) chmodSync(each, 0o500);
  return folder;
}
