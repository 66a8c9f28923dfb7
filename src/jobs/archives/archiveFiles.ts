import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { statIfThere } from '../../core/files/ifThere.ts';

interface MeasuredFile {
  readonly path: string;
  /** When it was last changed, in milliseconds since 1970. */
  readonly time: number;
  /** The file itself, or the files in the folder. */
  readonly parts: readonly { readonly bytes: number /** The same for all names of a file. */; readonly file: string }[];
}

/** The size and time of a file, or of a folder with files; undefined if it does not exist. */
export async function measureFile(path: string): Promise<MeasuredFile | undefined> {
  const stats = await statIfThere(path);
  if (stats === undefined) return undefined;
  // Another window may be removing the folder.
  const names = stats.isDirectory() ? await readdir(path).catch(() => []) : undefined;
  const all = names === undefined ? [stats] : await Promise.all(names.map((name) => statIfThere(join(path, name))));
  const parts = all
    .filter((part) => part !== undefined)
    .map(({ size, dev, ino }) => ({ bytes: size, file: `${dev} ${ino}` }));
  return { path, time: stats.mtimeMs, parts };
}

/** Creates a hard link to a file, which costs no space and remains when the other name is removed, or a copy where that is impossible. */
export async function linkFile(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: unknown) => {
    if (systemCode(error) === 'ENOENT') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  });
}

/** The same for a folder with files. */
export async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const name of await readdir(from)) await linkFile(join(from, name), join(to, name));
}
