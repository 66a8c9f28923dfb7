import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCK_TICK_MS, type IndexedFile, readIndexedFile } from '../building/indexedFile.ts';

// About the results of some minutes; their texts are kept in memory.
const MOST_FILES = 512;
const MOST_BYTES = 16_000_000;

interface RecentFile {
  readonly file: IndexedFile;
  /** What identifies this version of the file; undefined if a later version could look the same. */
  readonly version: string | undefined;
}

/**
 * The files of recent results. While a query is typed, each letter finds mostly the same files. Reading them again and splitting them
 * into chunks would take most of a search's time, so they are only checked for changes.
 */
export class RecentFiles {
  readonly #root: string;
  readonly #now: () => number;
  /** The least recently used first. */
  readonly #files = new Map<string, RecentFile>();
  #bytes = 0;

  constructor(root: string, now: () => number = Date.now) {
    this.#root = root;
    this.#now = now;
  }

  /** A file in its current version; undefined if it does not exist. */
  read(path: string): IndexedFile | undefined {
    const version = this.#versionOf(join(this.#root, path));
    const before = this.#forget(path);
    if (before !== undefined && version !== undefined && before.version === version) {
      this.#keep(path, before);
      return before.file;
    }
    const now = readIndexedFile(this.#root, path);
    if (now === undefined) return undefined;
    const file = before?.file.source.hash === now.source.hash ? before.file : now;
    this.#keep(path, { file, version });
    return file;
  }

  #keep(path: string, recent: RecentFile): void {
    this.#files.set(path, recent);
    this.#bytes += recent.file.source.size;
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= MOST_FILES && this.#bytes <= MOST_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(path: string): RecentFile | undefined {
    const recent = this.#files.get(path);
    if (this.#files.delete(path)) this.#bytes -= recent?.file.source.size ?? 0;
    return recent;
  }

  /** A write changes the time of the status, which programs cannot set. Within a tick of the file system's clock it may stay the same. */
  #versionOf(file: string): string | undefined {
    try {
      const { ino, size, mtimeMs, ctimeMs } = lstatSync(file);
      const isSettled = this.#now() - Math.max(mtimeMs, ctimeMs) > CLOCK_TICK_MS;
      return isSettled ? `${ino} ${size} ${mtimeMs} ${ctimeMs}` : undefined;
    } catch {
      return undefined; // reading it shows why
    }
  }
}
