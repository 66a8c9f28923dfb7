import { hash } from 'node:crypto';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { constants } from 'node:fs';
import { systemCode } from '../../core/errors.ts';
import { UNFINISHED, writeAtomically } from '../../core/files/atomicFile.ts';
import { ifThere, statIfThere } from '../../core/files/ifThere.ts';
import { numberField, tryParseJson, textField } from '../../core/jsonFields.ts';
import { ownerState, processOwner } from '../../core/processes/processOwner.ts';
import type { ManifestEntry } from '../../workspace/pack/pack.ts';

const MAX_KEPT_BYTES = 2_000_000_000;
const FILE_SUFFIX = '.tar.gz';
const FOLDER_SUFFIX = '.parts';
// `ID.PROCESS.part`, and `.PROCESS.NAME.partial` while `packSelection` writes.
const PART_SUFFIX = /\.part(?:ial)?$/;
// No process is still packing an archive of this age.
const ABANDONED_MS = 24 * 3600_000;
// For each folder, the ID of the job that was last sent from it.
const LATEST_SUFFIX = '.latest';
const LATEST_MS = 90 * ABANDONED_MS;
const ID = /^[\w-]{1,64}$/;

/** The stored files of a packed folder. */
export interface PackedFiles {
  /** A file, or a folder with parts, some of which it shares with other archives. */
  readonly archive: string;
  /** The list of packed files. */
  readonly manifest: string;
  /** The segments of the archive. */
  readonly segments: string;
}

interface MeasuredFile {
  readonly path: string;
  /** When it was last changed, in milliseconds since 1970. */
  readonly time: number;
  /** The file itself, or the files in the folder. */
  readonly parts: readonly { readonly bytes: number /** The same for all names of a file. */; readonly file: string }[];
}

/** The archive that was sent with each job, as long as space allows, and its manifest (paths, sizes, hashes). */
export class ArchiveStore {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, 'archives');
  }

  /** The path of an archive, if it is a file. */
  archivePath(id: string): string {
    return join(this.#folder, `${id}${FILE_SUFFIX}`);
  }

  /** The path of an archive, if it is a folder with parts. */
  folderPath(id: string): string {
    return join(this.#folder, `${id}${FOLDER_SUFFIX}`);
  }

  /** The path of an archive that this process is packing. It names the process, so that another one knows when to remove it. */
  partPath(id: string): string {
    return join(this.#folder, `${id}.${processOwner()}.part`);
  }

  /** The same for an archive that is a folder. */
  folderPartPath(id: string): string {
    return join(this.#folder, `${id}.${processOwner()}.folder.part`);
  }

  /** The path of the names of an archive's contents while they are sent. It names the process, as `partPath` does. */
  namesPath(id: string): string {
    return join(this.#folder, `.${processOwner()}.${id}.partial`);
  }

  /** The path of a copy of the whole archive while it is sent, as `namesPath`. */
  wholePath(id: string): string {
    return join(this.#folder, `.${processOwner()}.${id}.whole.partial`);
  }

  /** The path of the list of packed files. */
  manifestPath(id: string): string {
    return join(this.#folder, `${id}.manifest.json`);
  }

  /** The path of the archive's segments. */
  segmentsPath(id: string): string {
    return join(this.#folder, `${id}.segments.json`);
  }

  /** The paths of what is stored of a job that was sent, which may be gone. */
  async packedFiles(id: string): Promise<PackedFiles> {
    const folder = this.folderPath(id);
    const isFolder = (await measureFile(folder)) !== undefined;
    const archive = isFolder ? folder : this.archivePath(id);
    return { archive, manifest: this.manifestPath(id), segments: this.segmentsPath(id) };
  }

  /** The files of the job that was last sent from a folder, which may be gone; undefined if none is known. */
  async latestOf(folder: string): Promise<PackedFiles | undefined> {
    try {
      const id = await readFile(this.#latestPath(folder), 'utf8');
      return ID.test(id) ? await this.packedFiles(id) : undefined;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Notes that a job was sent from a folder, so that the next archive of the folder can be packed from its own. */
  async setLatest(folder: string, id: string): Promise<void> {
    await writeAtomically(this.#latestPath(folder), id);
  }

  #latestPath(folder: string): string {
    return join(this.#folder, `${hash('sha256', folder)}${LATEST_SUFFIX}`);
  }

  /** The archive that the jobs of a sweep share. It is removed when all of them were sent, and not by `prune`. */
  sweepPath(id: string): string {
    return join(this.#folder, `${id}.sweep`);
  }

  /** Makes the store ready for an archive, and removes those that processes were packing when they were killed. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const isPart = PART_SUFFIX.test(name);
      if ((!isPart && !name.endsWith(UNFINISHED)) || !(await this.#isAbandoned(name))) continue;
      const [id = ''] = name.split('.');
      await this.#remove(name);
      if (!isPart || id === '') continue;
      await rm(this.manifestPath(id), { force: true });
      await rm(this.segmentsPath(id), { force: true });
    }
  }

  /** The manifest of a job; undefined if none was stored or it is damaged. */
  async readManifest(id: string): Promise<readonly ManifestEntry[] | undefined> {
    return readArchiveManifest(this.manifestPath(id));
  }

  /** Moves the archive that was packed for a job to its place. @throws the system's error. */
  async place(id: string): Promise<void> {
    await rename(this.folderPartPath(id), this.folderPath(id)).catch(async (error: unknown) => {
      if (systemCode(error) !== 'ENOENT') throw error;
      await rename(this.partPath(id), this.archivePath(id));
    });
  }

  /**
   * Copies a packed archive, and its manifest if there is one, for a job that is about to be sent.
   *
   * @returns the path that the archive will have.
   * @throws the system's error.
   */
  async copyPacked(from: PackedFiles, id: string): Promise<string> {
    const isFolder = (await stat(from.archive)).isDirectory();
    await (isFolder ? linkFolder(from.archive, this.folderPartPath(id)) : linkFile(from.archive, this.partPath(id)));
    const copies = [
      [from.manifest, this.manifestPath(id)],
      [from.segments, this.segmentsPath(id)],
    ] as const;
    for (const [path, copy] of copies) {
      await ifThere(copyFile(path, copy), undefined); // if one was kept
    }
    return isFolder ? this.folderPath(id) : this.archivePath(id);
  }

  /** Removes the files of a job that was not sent. */
  async discard(id: string): Promise<void> {
    const archives = [this.partPath(id), this.folderPartPath(id), this.archivePath(id), this.folderPath(id)];
    for (const path of [...archives, this.manifestPath(id), this.segmentsPath(id)]) {
      await rm(path, { recursive: true, force: true });
    }
  }

  /** Removes the archive that the jobs of a sweep share. Each job that was sent has its own link to it. */
  async discardSweep(id: string): Promise<void> {
    await rm(this.sweepPath(id), { force: true });
  }

  /** Removes the oldest archives above the total limit, with the files that are useless without them. Manifests are small and stay. */
  async prune(inUse: ReadonlySet<string>, maxBytes: number = MAX_KEPT_BYTES): Promise<void> {
    const names = await readdir(this.#folder);
    const measured = await Promise.all(names.map((name) => measureFile(join(this.#folder, name))));
    const files = measured.filter((file) => file !== undefined).sort((a, b) => b.time - a.time);
    const counted = new Set<string>();
    let total = 0;
    for (const { path, parts } of files) {
      const name = basename(path);
      const suffix = [FILE_SUFFIX, FOLDER_SUFFIX].find((end) => name.endsWith(end));
      if (suffix === undefined) continue;
      // Jobs that share an archive, or a part of one, use its space once.
      for (const { bytes, file } of parts) {
        if (!counted.has(file)) total += bytes;
        counted.add(file);
      }
      const id = name.slice(0, -suffix.length);
      if (total <= maxBytes || inUse.has(id)) continue;
      await this.#remove(name);
      await rm(this.segmentsPath(id), { force: true });
    }
    const now = Date.now();
    for (const { path, time } of files) {
      if (path.endsWith(LATEST_SUFFIX) && now - time > LATEST_MS) await rm(path, { force: true });
    }
  }

  /** Whether the process that was packing an archive has stopped; after a day, also if that cannot be known. */
  async #isAbandoned(name: string): Promise<boolean> {
    const [, owner = ''] = name.split('.');
    const state = ownerState(owner);
    if (state !== 'unknown') return state === 'stopped';
    const file = await measureFile(join(this.#folder, name));
    return file !== undefined && Date.now() - file.time > ABANDONED_MS;
  }

  #remove(name: string): Promise<void> {
    return rm(join(this.#folder, name), { recursive: true, force: true });
  }
}

/** What is stored beside an archive. @param archive its path, as a job's record has it. */
export function packedFilesAt(archive: string): Pick<PackedFiles, 'archive' | 'segments'> {
  const suffix = archive.endsWith(FOLDER_SUFFIX) ? FOLDER_SUFFIX : FILE_SUFFIX;
  return { archive, segments: new ArchiveStore(dirname(dirname(archive))).segmentsPath(basename(archive, suffix)) };
}

/** The files of an archive; undefined if none were stored or the list is damaged. */
export async function readArchiveManifest(path: string): Promise<readonly ManifestEntry[] | undefined> {
  const manifest = tryParseJson(await ifThere(readFile(path, 'utf8'), ''));
  return Array.isArray(manifest) && manifest.every(isManifestEntry) ? manifest : undefined;
}

function isManifestEntry(value: unknown): value is ManifestEntry {
  const hasTexts = textField(value, 'path') !== undefined && textField(value, 'sha256') !== undefined;
  return hasTexts && numberField(value, 'size') !== undefined && numberField(value, 'mode') !== undefined;
}

/** The size and time of a file, or of a folder with files; undefined if it does not exist. */
async function measureFile(path: string): Promise<MeasuredFile | undefined> {
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
async function linkFile(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: unknown) => {
    if (systemCode(error) === 'ENOENT') throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  });
}

/** The same for a folder with files. */
async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const name of await readdir(from)) await linkFile(join(from, name), join(to, name));
}
