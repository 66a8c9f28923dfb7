import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { type EntryPlace, type NameRules, namesOn, NameTable } from '../files/nameRules.ts';
import type { TarFile } from '../archive/tarFormat.ts';
import { isZero } from '../files/holes.ts';
import { refused } from '../archive/tarFields.ts';
import type { TarEntry, TarSink } from '../archive/tarReader.ts';

export interface SkippedEntry {
  readonly path: string;
  readonly reason: string;
}

export interface PlanLimits {
  /** Total size of the unpacked files, with their holes. */
  readonly totalBytes: number;
  readonly entries: number;
  /** Including folders that have no entry of their own. */
  readonly folders: number;
  /** Names in one path. A file in more folders is skipped. */
  readonly depth: number;
  /** Names in all paths together. */
  readonly components: number;
  /** Length of all paths together. */
  readonly nameBytes: number;
  /** How the user can raise the limits, after a message that names one. */
  readonly raise?: string | undefined;
}

/** A file under the name that it gets here. */
export interface PlacedEntry extends TarFile {
  /** Its path in the archive, if it gets another one here. */
  readonly name?: string;
  /** The path here of the file that has the same name on this file system, and only there. */
  readonly twin?: string;
}

export interface PlannedFile extends PlacedEntry {
  readonly type: 'file';
}

/** A step of writing: the start of a file, its bytes, zeros that need no space, its end. */
export type WriteStep =
  | PlannedFile
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  | Hole
  | { readonly type: 'end' };

/** Grows until it is taken. */
interface Hole {
  readonly type: 'hole';
  size: number;
}

// A path of a few hundred bytes can name 240 folders, so an archive of 10 KB could have 144,000. That takes minutes to create and remove.
const FOLDERS_ANYWAY = 50_000;
const FOLDERS_PER_ENTRY = 4;
const END: WriteStep = { type: 'end' };
const TOO_DEEP = 'its folders are nested too deeply';
const LEAST_MEMORY_BYTES = 64 * 1024;
// Smaller holes save no space.
const LEAST_HOLE_BYTES = 16 * 1024;

/** Checks the entries of an archive in memory and collects the steps to write them. Links and special files are listed, never created. */
export class ArchivePlan implements TarSink {
  readonly skipped: SkippedEntry[] = [];
  totalBytes = 0;
  /** File contents that were collected but not yet taken. */
  waitingBytes = 0;
  readonly #limits: PlanLimits;
  readonly #freeBytes: number;
  readonly #names: NameTable;
  #steps: WriteStep[] = [];
  /** The memory of the steps, reused after the next `take`, and how much of it is in use. */
  #memory = Buffer.alloc(0);
  #memoryBytes = 0;
  #isInFile = false;
  #mayHaveHoles = false;
  /** Contents without holes. */
  #storedBytes = 0;
  #entries = 0;
  #components = 0;
  #nameBytes = 0;
  readonly #times: string[] = [];
  /** Whether a file of the archive is written, in their order. */
  readonly #isWritten: boolean[] = [];

  /** @param freeBytes of the disk that the files are for. */
  constructor(limits: PlanLimits, freeBytes: number, rules: NameRules = namesOn()) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
    this.#names = new NameTable(rules);
  }

  /** The steps collected since the last call, in order. Their bytes are valid until the next part of the archive is read. */
  take(): readonly WriteStep[] {
    const steps = this.#steps;
    this.#steps = [];
    this.#memoryBytes = 0;
    this.waitingBytes = 0;
    return steps;
  }

  /** The times of all files that are written, in order, if the archive ends with a list of them; texts that may not be times. */
  get times(): readonly string[] | undefined {
    if (this.#times.length !== this.#isWritten.length) return undefined;
    return this.#times.filter((_, index) => this.#isWritten[index]);
  }

  takeTimes(times: readonly string[]): void {
    for (const time of times) this.#times.push(time);
  }

  begin({ name, type, size, mode, mtime }: TarEntry): void {
    this.#entries += 1;
    this.#count(this.#entries, this.#limits.entries, 'entry', 'entries');
    this.totalBytes += size;
    if (this.totalBytes > this.#limits.totalBytes) {
      throw this.#overLimit(`it unpacks to more than ${formatBytes(this.#limits.totalBytes)}`);
    }
    const path = entryPath(name);
    if (path === '') {
      if (type !== 'directory') throw refused(`${JSON.stringify(name)} is a ${type} in place of the folder itself`);
      return;
    }
    const reason = this.#reasonToSkip(path, type);
    if (type === 'file') this.#isWritten.push(reason === undefined);
    if (reason !== undefined) this.skipped.push({ path, reason });
    if (reason === TOO_DEEP) return;
    const place = this.#place(path, type === 'directory');
    if (type !== 'file') return;
    const time = mtime === undefined ? {} : { mtime };
    const renamed = place.path === path ? {} : { name: path };
    this.#steps.push({ type, size, mode: (mode & 0o111) === 0 ? 0o644 : 0o755, ...time, ...renamed, ...place });
    this.#isInFile = true;
    this.#mayHaveHoles = size > LEAST_HOLE_BYTES;
  }

  data(bytes: Buffer): void {
    if (!this.#isInFile) return;
    if (this.#mayHaveHoles && bytes.length >= LEAST_HOLE_BYTES && isZero(bytes)) {
      const last = this.#steps.at(-1);
      if (last?.type === 'hole') last.size += bytes.length;
      else this.#steps.push({ type: 'hole', size: bytes.length });
      return;
    }
    this.#storedBytes += bytes.length;
    if (this.#storedBytes > this.#freeBytes) throw noSpace(this.#freeBytes);
    this.#steps.push({ type: 'bytes', bytes: this.#copy(bytes) });
    this.waitingBytes += bytes.length;
  }

  end(): void {
    if (this.#isInFile) this.#steps.push(END);
    this.#isInFile = false;
  }

  /** Other steps may be using this memory, so it is replaced when it is too small, not moved. */
  #copy(bytes: Buffer): Buffer {
    if (this.#memoryBytes + bytes.length > this.#memory.length) {
      const size = Math.max(LEAST_MEMORY_BYTES, bytes.length, 2 * this.#memory.length);
      this.#memory = Buffer.allocUnsafeSlow(size);
      this.#memoryBytes = 0;
    }
    const start = this.#memoryBytes;
    this.#memoryBytes += bytes.copy(this.#memory, start);
    return this.#memory.subarray(start, this.#memoryBytes);
  }

  #reasonToSkip(path: string, type: TarEntry['type']): string | undefined {
    let depth = 1;
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) depth += 1;
    this.#components += depth;
    this.#count(this.#components, this.#limits.components, 'name in its paths', 'names in its paths');
    if (depth > this.#limits.depth) return TOO_DEEP;
    return type === 'file' || type === 'directory' ? undefined : `a ${type}, which is never created`;
  }

  #place(path: string, isFolder: boolean): EntryPlace {
    const { nameBytes, folders } = this.#limits;
    this.#nameBytes += Buffer.byteLength(path);
    if (this.#nameBytes > nameBytes) {
      throw this.#overLimit(`its names are longer than ${formatBytes(nameBytes)} together`);
    }
    const place = isFolder ? this.#names.addFolder(path) : this.#names.addFile(path);
    if ('earlier' in place) throw refused(describeRepeated(path, place.earlier));
    const allowed = Math.min(folders, FOLDERS_ANYWAY + FOLDERS_PER_ENTRY * this.#entries);
    this.#count(this.#names.folderCount, allowed, 'folder', 'folders');
    return place;
  }

  #count(count: number, limit: number, one: string, many: string): void {
    if (count > limit) throw this.#overLimit(`it has more than ${formatCount(limit, one, many)}`);
  }

  #overLimit(what: string): AppError {
    return overLimit(what, this.#limits.raise);
  }
}

/** Why two entries cannot both be written. */
function describeRepeated(path: string, earlier: string): string {
  return path === earlier
    ? `${JSON.stringify(path)} is in it twice`
    : `${JSON.stringify(path)} is below ${JSON.stringify(earlier)}, which is not a folder`;
}

/** The error for an archive that exceeds a limit. @param raise how the user can raise it. */
export function overLimit(what: string, raise = 'Reduce the number or size of its files.'): AppError {
  return new AppError('limit', `The archive was refused: ${what}. ${raise}`);
}

/** The error for an archive for which a disk has too little space. */
export function noSpace(freeBytes: number): AppError {
  return new AppError(
    'no-space',
    `The archive needs more space than the ${formatBytes(freeBytes)} free on this disk. Free some space and try again.`,
  );
}

/**
 * Converts the name of an entry to a relative path with `/`; `''` for the folder itself.
 *
 * @throws AppError `refused` for a name that leads out of the folder, or an empty one.
 */
export function entryPath(name: string): string {
  const quoted = JSON.stringify(name);
  if (name === '') throw refused('an entry has no name');
  if (name.startsWith('/')) throw refused(`${quoted} is an absolute path`);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(`${quoted} leads out of the folder`);
  return parts.join('/');
}
