import { type IndexedFile, readIndexedFile } from '../building/indexedFile.ts';

// The results of some searches; their texts are in memory.
const MOST_FILES = 64;
const MOST_BYTES = 200_000;

/**
 * Files that were found lately. With each letter of a query that is typed the same ones are found again: they are read again,
 * since they may have changed, but cutting them into chunks takes most of a search's time and is done once.
 */
export class RecentFiles {
  readonly #root: string;
  readonly #files = new Map<string, IndexedFile>();

  constructor(root: string) {
    this.#root = root;
  }

  /** A file as it is now; undefined where there is none. */
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
