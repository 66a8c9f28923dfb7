import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { NameTable } from '../archive/entryNames.ts';
import type { TarFile } from '../archive/tarFormat.ts';
import { entryPath } from './entryPath.ts';
import { refused } from '../archive/tarFields.ts';
import type { TarEntry, TarSink } from '../archive/tarReader.ts';

export interface SkippedEntry {
  readonly path: string;
  readonly reason: string;
}

export interface PlanLimits {
  /** Total size of the unpacked files. */
  readonly totalBytes: number;
  readonly entries: number;
  /** Including folders that have no entry of their own. */
  readonly folders: number;
  /** Names in one path. */
  readonly depth: number;
  /** Names in all paths together. */
  readonly components: number;
  /** Length of all paths together. */
  readonly nameBytes: number;
}

export interface PlannedFile extends TarFile {
  readonly type: 'file';
}

/** A step of writing: the start of a file, its bytes, its end. */
export type WriteStep = PlannedFile | { readonly type: 'bytes'; readonly bytes: Buffer } | { readonly type: 'end' };

// A path of a few hundred bytes can name 240 folders. No real tree has so many more folders than files.
const FOLDERS_ANYWAY = 10_000;
const FOLDERS_PER_ENTRY = 4;
const END: WriteStep = { type: 'end' };
const LEAST_MEMORY_BYTES = 64 * 1024;

/** Checks the entries of an archive in memory and collects the steps to write them. Links and special files are listed, never created. */
export class ArchivePlan implements TarSink {
  readonly skipped: SkippedEntry[] = [];
  totalBytes = 0;
  /** File contents that were collected but not yet taken. */
  waitingBytes = 0;
  readonly #limits: PlanLimits;
  readonly #freeBytes: number;
  readonly #names = new NameTable();
  #steps: WriteStep[] = [];
  /** The memory of the steps, reused after the next `take`, and how much of it is in use. */
  #memory = Buffer.alloc(0);
  #memoryBytes = 0;
  #isInFile = false;
  #entries = 0;
  #components = 0;
  #nameBytes = 0;

  constructor(limits: PlanLimits, freeBytes: number) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
  }

  /** The steps collected since the last call, in order. Their bytes are valid until the next part of the archive is read. */
  take(): readonly WriteStep[] {
    const steps = this.#steps;
    this.#steps = [];
    this.#memoryBytes = 0;
    this.waitingBytes = 0;
    return steps;
  }

  begin({ name, type, size, mode }: TarEntry): void {
    this.#entries += 1;
    this.#count(this.#entries, this.#limits.entries, 'entry', 'entries');
    this.totalBytes += size;
    if (this.totalBytes > this.#limits.totalBytes) {
      throw overLimit(`it unpacks to more than ${formatBytes(this.#limits.totalBytes)}`);
    }
    if (this.totalBytes > this.#freeBytes) {
      throw new AppError(
        'no-space',
        `The archive needs more space than the ${formatBytes(this.#freeBytes)} free on this disk. Free some space and try again.`,
      );
    }
    const path = entryPath(name, this.#limits.depth);
    if (path === '') {
      if (type !== 'directory') throw refused(`${JSON.stringify(name)} is a ${type} in place of the folder itself`);
      return;
    }
    this.#claim(path, type === 'directory');
    if (type === 'file') {
      this.#steps.push({ type, path, size, mode: (mode & 0o111) === 0 ? 0o644 : 0o755 });
      this.#isInFile = true;
    } else if (type !== 'directory') this.skipped.push({ path, reason: `a ${type}, which is never created` });
  }

  data(bytes: Buffer): void {
    if (!this.#isInFile) return;
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

  #claim(path: string, isFolder: boolean): void {
    const { components, nameBytes, folders } = this.#limits;
    this.#components += path.split('/').length;
    this.#count(this.#components, components, 'name in its paths', 'names in its paths');
    this.#nameBytes += Buffer.byteLength(path);
    if (this.#nameBytes > nameBytes) throw overLimit(`its names are longer than ${formatBytes(nameBytes)} together`);
    const twin = isFolder ? this.#names.claimFolder(path) : this.#names.claimFile(path);
    if (twin !== undefined) throw refused(describeTwins(path, twin));
    const allowed = Math.min(folders, FOLDERS_ANYWAY + FOLDERS_PER_ENTRY * this.#entries);
    this.#count(this.#names.folderCount, allowed, 'folder', 'folders');
  }

  #count(found: number, limit: number, one: string, many: string): void {
    if (found > limit) throw overLimit(`it has more than ${formatCount(limit, one, many)}`);
  }
}

/** Why two entries cannot both be written. */
function describeTwins(path: string, twin: string): string {
  if (path === twin) return `${JSON.stringify(path)} is in it twice`;
  if (path.startsWith(`${twin}/`))
    return `${JSON.stringify(path)} is below ${JSON.stringify(twin)}, which is not a folder`;
  return `${JSON.stringify(path)} and ${JSON.stringify(twin)} are the same name on some systems`;
}

/** The error for an archive that exceeds a limit. */
export function overLimit(what: string): AppError {
  return new AppError('limit', `The archive was refused: ${what}. Reduce the number or size of its files.`);
}
