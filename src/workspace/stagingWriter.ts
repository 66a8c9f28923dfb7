import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { formatBytes, formatCount } from '../core/format.ts';
import { NameTable } from './entryNames.ts';
import { entryPath } from './entryPath.ts';
import { refused } from './tarFields.ts';
import type { TarEntry, TarSink } from './tarReader.ts';

export interface StagedEntry {
  /** Relative to the target folder, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

export interface SkippedEntry {
  readonly path: string;
  readonly reason: string;
}

export interface WriterLimits {
  readonly totalBytes: number;
  readonly entries: number;
  readonly depth: number;
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

interface OpenFile {
  readonly descriptor: number;
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** Only for files that come in parts: the hash of one part is cheaper taken at once. */
  digest: Hash | undefined;
  sha256: string;
}

/**
 * Writes the entries of an archive into an empty folder that nobody else uses. Links and special files are listed,
 * never made. The calls are synchronous: a small file costs a fifth of what it costs asynchronously.
 */
export class StagingWriter implements TarSink {
  readonly entries: StagedEntry[] = [];
  readonly skipped: SkippedEntry[] = [];
  totalBytes = 0;
  readonly #root: string;
  readonly #limits: WriterLimits;
  readonly #freeBytes: number;
  readonly #names = new NameTable();
  readonly #folders = new Set<string>(['']);
  #seen = 0;
  #file: OpenFile | undefined;

  constructor(root: string, limits: WriterLimits, freeBytes: number) {
    this.#root = root;
    this.#limits = limits;
    this.#freeBytes = freeBytes;
  }

  begin({ name, type, size, mode }: TarEntry): void {
    this.#seen += 1;
    if (this.#seen > this.#limits.entries) {
      throw overLimit(`it has more than ${formatCount(this.#limits.entries, 'entry', 'entries')}`);
    }
    this.totalBytes += size;
    if (this.totalBytes > this.#limits.totalBytes) {
      throw overLimit(`it unpacks to more than ${formatBytes(this.#limits.totalBytes)}`);
    }
    if (this.totalBytes > this.#freeBytes) {
      throw new AppError(
        'no-space',
        `The archive needs more than the ${formatBytes(this.#freeBytes)} that are free on this disk. Free some space and try again.`,
      );
    }
    const path = entryPath(name, this.#limits.depth);
    if (path === '') {
      if (type !== 'directory') throw refused(`${JSON.stringify(name)} is a ${type} in place of the folder itself`);
      return;
    }
    const twin = type === 'directory' ? this.#names.claimFolder(path) : this.#names.claimFile(path);
    if (twin !== undefined)
      throw refused(`${JSON.stringify(path)} and ${JSON.stringify(twin)} are the same name on some systems`);
    if (type === 'file') this.#open(path, size, mode);
    else if (type !== 'directory') this.skipped.push({ path, reason: `a ${type}, which is never created` });
  }

  data(bytes: Buffer): void {
    const file = this.#file;
    if (file === undefined) return;
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(file.descriptor, bytes, written, bytes.length - written);
    }
    if (bytes.length === file.size) file.sha256 = hash('sha256', bytes, 'hex');
    else file.digest = (file.digest ?? createHash('sha256')).update(bytes);
  }

  end(): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    closeSync(file.descriptor);
    const sha256 = file.digest?.digest('hex') ?? file.sha256;
    this.entries.push({ path: file.path, size: file.size, mode: file.mode, sha256 });
  }

  /** Closes the file that an interrupted archive left open. */
  dispose(): void {
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = undefined;
  }

  #open(path: string, size: number, archivedMode: number): void {
    const mode = (archivedMode & 0o111) === 0 ? 0o644 : 0o755;
    this.#makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    const descriptor = openSync(join(this.#root, path), CREATE, mode);
    this.#file = { descriptor, path, size, mode, digest: undefined, sha256: EMPTY_SHA256 };
  }

  #makeFolder(path: string): void {
    if (this.#folders.has(path)) return;
    this.#makeFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    mkdirSync(join(this.#root, path));
    this.#folders.add(path);
  }
}

const EMPTY_SHA256 = hash('sha256', '', 'hex');

function overLimit(what: string): AppError {
  return new AppError(
    'limit',
    `The archive was refused: ${what}. If it comes from a job that you trust, raise the limit.`,
  );
}
