import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, constants, ftruncateSync, futimesSync, lutimesSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { systemCode } from '../../core/errors.ts';
import type { Yielder } from '../../core/processes/yielder.ts';
import { type FileTime, parseFileTime, presentTimes, secondsOf } from '../files/fileTime.ts';
import { ZEROS } from '../files/holes.ts';
import type { PinnedFolders } from '../files/pinnedFolders.ts';
import type { PlacedEntry, PlannedFile, SkippedEntry, WriteStep } from './archivePlan.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const EMPTY_SHA256 = hash('sha256', '', 'hex');
// What systems answer to a name that this file system cannot hold, or holds already in another spelling.
const UNFIT_NAME = new Set(['ENAMETOOLONG', 'EINVAL', 'EILSEQ', 'EEXIST']);

interface OpenFile extends PlannedFile {
  readonly descriptor: number;
  /** Only for files in several parts. For a single part, a one-shot hash is cheaper. */
  digest: Hash | undefined;
  sha256: string;
  /** Bytes so far, with holes. */
  position: number;
  endsWithHole: boolean;
}

/**
 * Writes planned files and their folders into an empty folder that nothing else uses. The calls are synchronous, with pauses in
 * between, which for a small file costs a fifth of asynchronous calls.
 */
export class StagingWriter {
  readonly entries: PlacedEntry[] = [];
  /** The SHA-256 of each entry, in lower-case hexadecimal; empty unless they are hashed. */
  readonly hashes: string[] = [];
  /** Files whose names this file system cannot hold. */
  readonly skipped: SkippedEntry[] = [];
  readonly #folders: PinnedFolders;
  readonly #isHashed: boolean;
  readonly #made = new Set<string>(['']);
  readonly #now = Date.now() / 1000;
  /** Whether a planned file was written, in their order. */
  readonly #isWritten: boolean[] = [];
  #file: OpenFile | undefined;

  constructor(folders: PinnedFolders, isHashed: boolean) {
    this.#folders = folders;
    this.#isHashed = isHashed;
  }

  /** @throws the system's error, AppError `refused` if a folder was replaced meanwhile, or the reason of the yielder's signal. */
  async write(steps: readonly WriteStep[], yielder: Yielder): Promise<void> {
    for (const step of steps) {
      if (yielder.isDue) await yielder.pause();
      if (step.type === 'file') this.#open(step);
      else if (step.type === 'bytes') this.#append(step.bytes);
      else if (step.type === 'hole') await this.#skip(step.size, yielder);
      else this.#close();
    }
  }

  /**
   * Sets the times of files that have none yet, and of those that would be in the future.
   *
   * @param entries of all planned files, in order.
   */
  setTimes(entries: readonly string[] = []): void {
    const later = this.entries.filter(({ mtime }) => mtime !== undefined && secondsOf(mtime) > this.#now);
    let times = later.map(({ mtime }) => mtime);
    let files: readonly PlacedEntry[] = later;
    if (entries.length === this.#isWritten.length && this.entries.some(({ mtime }) => mtime === undefined)) {
      times = entries.filter((_, index) => this.#isWritten[index]).map(parseFileTime);
      files = this.entries;
    }
    const fileTimes = files.flatMap(({ path }, index) =>
      times[index] === undefined ? [] : { path, mtime: times[index] },
    );
    const present = presentTimes(
      fileTimes.map(({ mtime }) => mtime),
      this.#now,
    );
    for (const [index, { path }] of fileTimes.entries()) {
      const time = present[index] ?? this.#now;
      lutimesSync(this.#folders.at(path), time, time);
    }
  }

  /** Closes the folders, and the file that is open if the archive was interrupted. */
  dispose(): void {
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = undefined;
    this.#folders.dispose();
  }

  #append(bytes: Buffer): void {
    const file = this.#file;
    if (file === undefined) return;
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(file.descriptor, bytes, written, bytes.length - written, file.position + written);
    }
    file.position += bytes.length;
    file.endsWithHole = false;
    if (!this.#isHashed) return;
    if (bytes.length === file.size) file.sha256 = hash('sha256', bytes, 'hex');
    else file.digest = (file.digest ?? createHash('sha256')).update(bytes);
  }

  async #skip(size: number, yielder: Yielder): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    file.position += size;
    file.endsWithHole = true;
    if (!this.#isHashed) return;
    file.digest ??= createHash('sha256');
    for (let left = size; left > 0; left -= ZEROS.length) {
      if (yielder.isDue) await yielder.pause();
      file.digest.update(ZEROS.subarray(0, left));
    }
  }

  #close(): void {
    const file = this.#file;
    if (file === undefined) return;
    const { descriptor, endsWithHole, digest, position, sha256: whole, type: _, ...entry } = file;
    if (endsWithHole) ftruncateSync(descriptor, position);
    setTime(descriptor, entry.mtime, this.#now);
    this.#file = undefined;
    closeSync(descriptor);
    this.entries.push(entry);
    if (this.#isHashed) this.hashes.push(digest?.digest('hex') ?? whole);
  }

  #open(planned: PlannedFile): void {
    const { path, mode, name = path } = planned;
    try {
      this.#makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
      const descriptor = openSync(this.#folders.at(path), CREATE, mode);
      const start = { digest: undefined, sha256: EMPTY_SHA256, position: 0, endsWithHole: false };
      this.#file = { ...planned, ...start, descriptor };
    } catch (error) {
      if (!UNFIT_NAME.has(systemCode(error) ?? '')) throw error;
      this.skipped.push({ path: name, reason: 'this disk cannot hold a file of this name' });
    }
    this.#isWritten.push(this.#file !== undefined);
  }

  #makeFolder(path: string): void {
    if (this.#made.has(path)) return;
    this.#makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    mkdirSync(this.#folders.at(path));
    this.#made.add(path);
  }
}

/** Times in the future are set when all are known. */
function setTime(descriptor: number, mtime: FileTime | undefined, now: number): void {
  if (mtime === undefined) return;
  const time = secondsOf(mtime);
  if (time <= now) futimesSync(descriptor, time, time);
}
