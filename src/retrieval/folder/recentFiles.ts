import { type IndexedFile, readIndexedFile } from '../building/indexedFile.ts';

// About the results of a few searches; their texts are kept in memory.
const MOST_FILES = 64;
const MOST_BYTES = 200_000;

/**
 * The files of recent results. While a query is typed, each letter finds mostly the same files. They are read again, because they may
 * have changed, but splitting them into chunks takes most of a search's time and is done once.
 */
export class RecentFiles {
  readonly #root: string;
  readonly #files = new Map<string, IndexedFile>();

  constructor(root: string) {
    this.#root = root;
  }

  /** A file in its current version; undefined if it does not exist. */
  read(path: string): IndexedFile | undefined {
    const before = this.#files.get(path);
    const now = readIndexedFile(this.#root, path);
    this.#files.delete(path);
    if (now === undefined || now.source.size > MOST_BYTES) return now;
    const file = before?.source.hash === now.source.hash ? before : now;
    this.#files.set(path, file);
    const oldest = this.#files.keys().next().value;
    if (this.#files.size > MOST_FILES && oldest !== undefined) this.#files.delete(oldest);
    return file;
  }
}
