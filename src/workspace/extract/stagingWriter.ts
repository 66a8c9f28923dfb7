import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs';
import type { ManifestEntry } from '../pack/manifest.ts';
import type { PlannedFile, WriteStep } from './archivePlan.ts';
import type { Yielder } from '../../core/processes/yielder.ts';
import type { PinnedFolders } from '../files/pinnedFolders.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const EMPTY_SHA256 = hash('sha256', '', 'hex');

interface OpenFile extends PlannedFile {
  readonly descriptor: number;
  /** Only for files in several parts. For a single part, a one-shot hash is cheaper. */
  digest: Hash | undefined;
  sha256: string;
}

/**
 * Writes planned files and their folders into an empty folder that nothing else uses. The calls are synchronous, with pauses in
 * between, which for a small file costs a fifth of asynchronous calls.
 */
export class StagingWriter {
  readonly entries: ManifestEntry[] = [];
  readonly #folders: PinnedFolders;
  readonly #made = new Set<string>(['']);
  #file: OpenFile | undefined;

  constructor(folders: PinnedFolders) {
    this.#folders = folders;
  }

  /** @throws the system's error, AppError `refused` if a folder was replaced meanwhile, or the reason of the yielder's signal. */
  async write(steps: readonly WriteStep[], yielder: Yielder): Promise<void> {
    for (const step of steps) {
      if (yielder.isDue) await yielder.pause();
      if (step.type === 'file') this.#open(step);
      else if (step.type === 'bytes') this.#append(step.bytes);
      else this.#close();
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
      written += writeSync(file.descriptor, bytes, written, bytes.length - written);
    }
    if (bytes.length === file.size) file.sha256 = hash('sha256', bytes, 'hex');
    else file.digest = (file.digest ?? createHash('sha256')).update(bytes);
  }

  #close(): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    closeSync(file.descriptor);
    const sha256 = file.digest?.digest('hex') ?? file.sha256;
    this.entries.push({ path: file.path, size: file.size, mode: file.mode, sha256 });
  }

  #open(planned: PlannedFile): void {
    const { path, mode } = planned;
    this.#makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    const descriptor = openSync(this.#folders.at(path), CREATE, mode);
    this.#file = { ...planned, descriptor, digest: undefined, sha256: EMPTY_SHA256 };
  }

  #makeFolder(path: string): void {
    if (this.#made.has(path)) return;
    this.#makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    mkdirSync(this.#folders.at(path));
    this.#made.add(path);
  }
}
