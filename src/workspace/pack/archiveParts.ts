import { link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The file in an archive's folder that contains what was compressed for this archive. The other files contain segments of earlier archives.
 */
const OWN_PART = 'own';

/**
 * Where the segments of an archive are.
 *
 * @param archive the path of a file that has all of them, or of a folder with the files in which they are.
 * @returns the path of a file by its name in `ArchiveSegment.part`.
 * @throws the system's error if there is no such archive.
 */
export async function locateParts(archive: string): Promise<(part: string | null) => string> {
  const isFolder = (await stat(archive)).isDirectory();
  return (part) => (isFolder ? join(archive, part ?? OWN_PART) : archive);
}

/**
 * Makes the folder of an archive that refers to files of earlier ones. It has links to them, so that they stay when those are removed.
 *
 * @param ownFile the archive's own file, which is moved into the folder.
 * @param parts the path of each file by its name.
 * @returns false, with nothing changed, if a file is gone or the disk gives files one name only.
 */
export async function gatherParts(
  folder: string,
  ownFile: string,
  parts: ReadonlyMap<string, string>,
): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    for (const [name, path] of parts) await link(path, join(folder, name));
    await rename(ownFile, join(folder, OWN_PART));
    return true;
  } catch {
    await rm(folder, { recursive: true, force: true });
    return false;
  }
}
