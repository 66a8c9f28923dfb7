import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type IndexedFile, readIndexedFile, versionOf } from './indexedFile.ts';

// About as many files as the results of some minutes have; their texts are kept in memory.
const MOST_FILES = 512;
const MOST_BYTES = 16_000_000;

/**
 * The files of recent results. While a query is typed, each letter finds mostly the same files. Reading them again and splitting them
 * into chunks would take most of a search's time, so they are only checked for changes.
 */
export class RecentFiles {
  readonly #root: string;
  readonly #now: () => number;
  /** The least recently used first. */
  readonly #files = new Map<string, { readonly file: IndexedFile; readonly version: string | undefined }>();
  #bytes = 0;

  constructor(root: string, now: () => number = Date.now) {
    this.#root = root;
    this.#now = now;
  }

  /** A file in its current version; undefined if it does not exist. */
  read(path: string): IndexedFile | undefined {
    const before = this.#forget(path);
    if (before?.version !== undefined && before.version === this.#versionOf(path)) {
      this.#keep(path, before.file, before.version);
      return before.file;
    }
    const now = readIndexedFile(this.#root, path, this.#now);
    if (now === undefined) return undefined;
    const file = before?.file.source.hash === now.source.hash ? before.file : now;
    this.#keep(path, file, now.version);
    return file;
  }

  #keep(path: string, file: IndexedFile, version: string | undefined): void {
    this.#files.set(path, { file, version });
    this.#bytes += file.source.size;
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= MOST_FILES && this.#bytes <= MOST_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(path: string): { readonly file: IndexedFile; readonly version: string | undefined } | undefined {
    const recent = this.#files.get(path);
    if (this.#files.delete(path)) this.#bytes -= recent?.file.source.size ?? 0;
    return recent;
  }

  #versionOf(path: string): string | undefined {
    try {
      return versionOf(lstatSync(join(this.#root, path)), this.#now());
    } catch {
      return undefined; // reading it shows why
    }
  }
}
