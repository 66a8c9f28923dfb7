import { randomUUID } from 'node:crypto';
import { closeSync, createReadStream, ftruncateSync, openSync, writeSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { formatBytes } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { ArchivePlan, type WriteStep } from '../../workspace/extract/archivePlan.ts';
import { type ArchiveSource, readExtractSteps } from '../../workspace/extract/archiveSteps.ts';
import { type ArchiveLimits, DEFAULT_LIMITS } from '../../workspace/extract/extract.ts';
import { isRecordId } from '../ledger/record.ts';
import { type BrowsedFile, ResultIndex } from './resultIndex.ts';
import { parseFileTime } from '../../workspace/files/fileTime.ts';

export interface CacheLimits {
  /** Bytes of all contents. The results that were browsed longest ago are removed first. */
  readonly totalBytes: number;
  /** Bytes of the contents of one job. Files beyond it are listed only. */
  readonly jobBytes: number;
}

export interface BuildOptions {
  /** Of the archive; entries and names are limited further, because an index is kept in memory. */
  readonly limits?: ArchiveLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The index as it is stored: path, size, permission bits, offset or -1, time or an empty text, path in the job or an empty text. */
type StoredIndex = readonly (readonly [string, number, number, number, string?, string?])[];

const LIMITS: CacheLimits = { totalBytes: 4e9, jobBytes: 2e9 };
// An index of so many files and names takes about 100 MB of memory.
const MOST_ENTRIES = 300_000;
const MOST_NAME_BYTES = 32 * 2 ** 20;
const INDEX = 'index.json';
const CONTENTS = 'contents';
const PART = '.part';
const ABANDONED_MS = 24 * 3600_000;

/**
 * The results of jobs, to browse without writing them into a folder: for each job one file with all contents, and an index. An archive is
 * read once. Nothing in it becomes a file name.
 */
export class ResultCache {
  readonly #folder: string;
  readonly #limits: CacheLimits;
  // The last index that was read. A person browses one job at a time.
  #last: { readonly id: string; readonly index: ResultIndex } | undefined;

  /** @param home FARWHARF_HOME. */
  constructor(home: string, limits: CacheLimits = LIMITS) {
    this.#folder = join(home, 'results-cache');
    this.#limits = limits;
  }

  /** The index of a job's results; undefined if they are not in the cache. */
  async open(id: string): Promise<ResultIndex | undefined> {
    if (this.#last?.id === id) return this.#last.index;
    const folder = this.#pathOf(id);
    const text = await ifThere(readFile(join(folder, INDEX), 'utf8'), undefined);
    if (text === undefined) return undefined;
    const now = new Date();
    await utimes(folder, now, now).catch(() => {}); // a read-only home: only the order of removal is wrong
    const stored = parseOwnJson<StoredIndex>(text);
    const index = new ResultIndex(
      stored.map(([path, size, mode, offset, mtime = '', name = '']) => ({
        path,
        size,
        mode,
        offset: offset < 0 ? null : offset,
        ...(mtime !== '' && { mtime }),
        ...(name !== '' && { name }),
      })),
    );
    this.#last = { id, index };
    return index;
  }

  /**
   * Adds the results of a job from its archive.
   *
   * @throws AppError `corrupt`, `refused` or `limit` for an archive that would not be unpacked either, or that has more than 300,000
   * entries; `no-space`; the signal's reason. Nothing remains then.
   */
  async add(
    id: string,
    archive: ArchiveSource,
    { limits: allowed = DEFAULT_LIMITS, signal, onProgress }: BuildOptions = {},
  ): Promise<ResultIndex> {
    const folder = this.#pathOf(id);
    const part = `${folder}.${randomUUID()}${PART}`;
    try {
      await mkdir(part, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(part);
      const scale = allowed.entries / DEFAULT_LIMITS.entries;
      const limits = { ...allowed, entries: MOST_ENTRIES * scale, nameBytes: MOST_NAME_BYTES * scale };
      // At most half of the free space, so that other programs have room.
      using writer = new ContentsWriter(join(part, CONTENTS), Math.min(this.#limits.jobBytes, (bavail * bsize) / 2));
      const plan = new ArchivePlan(limits, Infinity);
      await readExtractSteps(archive, plan, { ...limits, signal, onProgress }, async (steps, yielder) => {
        for (const step of steps) {
          if (yielder.isDue) await yielder.pause();
          writer.push(step);
        }
      });
      const files = writer.end(plan.times);
      const stored: StoredIndex = files.map(({ path, size, mode, offset, mtime = '', name = '' }) => [
        path,
        size,
        mode,
        offset ?? -1,
        mtime,
        name,
      ]);
      await writeFile(join(part, INDEX), JSON.stringify(stored), { mode: 0o600 });
      await rename(part, folder).catch((error: unknown) => {
        // Another window was faster.
        if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(systemCode(error) ?? '')) throw error;
      });
      this.#last = { id, index: new ResultIndex(files) };
      await this.#prune(id);
      return this.#last.index;
    } catch (error) {
      throw diskError(error, this.#folder);
    } finally {
      await rm(part, { recursive: true, force: true });
    }
  }

  /** A job's file in parts. @throws AppError `missing` if it is not in the cache. */
  async *read(id: string, { path, size, offset }: BrowsedFile, signal?: AbortSignal): AsyncGenerator<Buffer, void> {
    if (offset === null) throw notStored(path, this.#limits.jobBytes);
    if (size === 0) return;
    const source = createReadStream(join(this.#pathOf(id), CONTENTS), {
      start: offset,
      end: offset + size - 1,
      signal,
    });
    let bytes = 0;
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    if (bytes < size) throw removed(path);
  }

  /** A job's file. @throws AppError `limit` if it is larger than `mostBytes`; as `read`. */
  async readAll(id: string, path: string, mostBytes: number): Promise<Buffer> {
    const index = await this.open(id);
    const file = index?.find(path);
    if (file === undefined) throw removed(path);
    if (file.offset === null) throw notStored(path, this.#limits.jobBytes);
    if (file.size > mostBytes)
      throw new AppError('limit', `${printableLine(path)} has ${formatBytes(file.size)}. Download it to open it.`);
    return this.readStart(id, file, mostBytes);
  }

  /** The first bytes of a job's file, at most `mostBytes`. @throws AppError `missing` if it is not in the cache. */
  async readStart(id: string, { path, size, offset }: BrowsedFile, mostBytes: number): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    await using contents = await open(join(this.#pathOf(id), CONTENTS), 'r').catch((error: unknown) => {
      throw systemCode(error) === 'ENOENT' ? removed(path) : error;
    });
    const { bytesRead } = await contents.read(bytes, 0, bytes.length, offset);
    if (bytesRead < bytes.length) throw removed(path);
    return bytes;
  }

  #pathOf(id: string): string {
    // Any other text could lead to another folder.
    if (!isRecordId(id)) throw new AppError('missing', 'This job is not in the list.');
    return join(this.#folder, id);
  }

  /** Removes the results browsed longest ago above the limit, except those of one job, and what crashes left behind. */
  async #prune(keptJob: string): Promise<void> {
    const names = await readdir(this.#folder);
    const found = await Promise.all(names.map(async (name) => ({ name, ...(await this.#measure(name)) })));
    let total = 0;
    for (const { name, bytes, time } of found.toSorted((a, b) => b.time - a.time)) {
      const isAbandoned = name.endsWith(PART) && Date.now() - time > ABANDONED_MS;
      if (!name.endsWith(PART)) total += bytes;
      if (isAbandoned || (total > this.#limits.totalBytes && name !== keptJob && !name.endsWith(PART)))
        await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }

  async #measure(name: string): Promise<{ readonly bytes: number; readonly time: number }> {
    const folder = join(this.#folder, name);
    const time = await stat(folder).catch(() => undefined);
    const contents = await stat(join(folder, CONTENTS)).catch(() => undefined);
    return { bytes: contents?.size ?? 0, time: time?.mtimeMs ?? 0 };
  }
}

function notStored(path: string, bytes: number): AppError {
  const limit = formatBytes(bytes);
  return new AppError(
    'limit',
    `${printableLine(path)} cannot be shown: at most ${limit} of a job's results are stored for browsing. Download it to open it.`,
  );
}

function removed(path: string): AppError {
  return new AppError(
    'missing',
    `${printableLine(path)} is no longer stored on this machine. Browse the results of the job again.`,
  );
}

/** Writes the contents of files one after the other into one file, as far as they fit into a limit. */
class ContentsWriter implements Disposable {
  readonly #files: BrowsedFile[] = [];
  readonly #descriptor: number;
  readonly #mostBytes: number;
  #bytes = 0;
  #isStoring = false;

  /** @param path the file to create. */
  constructor(path: string, mostBytes: number) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#mostBytes = mostBytes;
  }

  /** @throws the system's error. */
  push(step: WriteStep): void {
    if (step.type === 'bytes') this.#append(step.bytes);
    if (step.type === 'hole' && this.#isStoring) this.#bytes += step.size;
    if (step.type !== 'file') return;
    const { type: _, ...file } = step;
    this.#isStoring = this.#bytes + file.size <= this.#mostBytes;
    this.#files.push({ ...file, offset: this.#isStoring ? this.#bytes : null });
  }

  /** Ends the contents. @param times of all files, in order, for those that have none of their own. */
  end(times: readonly string[] = []): readonly BrowsedFile[] {
    ftruncateSync(this.#descriptor, this.#bytes);
    return this.#files.map((file, index) => {
      const mtime = file.mtime ?? parseFileTime(times[index] ?? '');
      return mtime === undefined ? file : { ...file, mtime };
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #append(bytes: Buffer): void {
    if (!this.#isStoring) return;
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#descriptor, bytes, written, bytes.length - written, this.#bytes + written);
    this.#bytes += bytes.length;
  }
}
