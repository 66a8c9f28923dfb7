import { lstatSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Yielder } from '../../core/processes/yielder.ts';
import type { ChangeBatch } from './changeQueue.ts';
import type { Index } from '../index/index.ts';
import type { ListedFile } from '../index/indexedFile.ts';
import { hasChunks } from '../segments/segment.ts';

// A change to one of these files changes which files are selected.
const RULE_FILES = new Set(['.gitignore', '.farwharfignore', 'pyvenv.cfg', '.git']);
const REPOSITORY_RULES = '.git/info/exclude';
// Each path costs one check by git; above this number, one check of everything costs less.
const MOST_UNINDEXED = 200;
// Repeated checks of everything, for example while packages are installed, may take a quarter of the time.
const REST_FACTOR = 3;
// A process that does not write waits for the writer, unless at most this much is missing or nothing arrives for this long.
const OWN_BYTES = 2_000_000;
const WRITER_POLL_MS = 500;
const WRITER_TIMEOUT_MS = 15_000;
// Reading this much takes about half a second of processor time.
const LARGE_BYTES = 20_000_000;

/** A file or folder that is not searched, with the rule or reason. */
export interface SkippedPath {
  /** Relative to the folder. */
  readonly path: string;
  readonly type: 'file' | 'directory';
  /** `gitignore`, `secret`, `binary`, `too-large`, `unreadable` and so on. */
  readonly reason: string;
  readonly rule?: string | undefined;
  /** The location of the rule, like `sub/.gitignore:3`. */
  readonly at?: string | undefined;
}

/** What an index contains. */
export interface IndexCounts {
  /** Indexed files, their chunks, and the size of the index on disk in bytes. */
  readonly files: number;
  readonly chunks: number;
  readonly bytes: number;
  /** The number of skipped files. */
  readonly skipped: number;
  /** Whether this process writes the index. If not, another one does, and this one takes over when that one stops. */
  readonly isWriter: boolean;
}

interface Selected {
  readonly files: readonly ListedFile[];
  readonly excluded: readonly SkippedPath[];
}

interface InspectOptions {
  /** Whether a file was selected when it had this size and time, so that its content need not be inspected again. */
  readonly isKnown: (file: ListedFile) => boolean;
  readonly signal: AbortSignal;
}

interface SelectOptions extends InspectOptions {
  /** Whether git may be run. */
  readonly isTrusted: boolean;
  /** Limits the check to these files and folders; undefined for everything. */
  readonly only?: readonly string[] | undefined;
}

/** Decides which files of a folder are indexed. */
export interface FileSelector {
  /** @throws AppError if the folder cannot be read; the signal's reason on abort. */
  select(root: string, options: SelectOptions): Promise<Selected>;

  /** Which of some selected files still qualify by type and content. Ignore rules are not checked. */
  inspect(root: string, paths: readonly string[], options: InspectOptions): Promise<Selected>;
}

interface UpdateOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
  /** Called before much is read; waits as long as that must wait. */
  readonly onLargeWork: () => Promise<void>;
  /** Called when the whole folder has been checked. */
  readonly onAll: () => void;
}

interface Sorted {
  /** Files and folders that no longer exist. */
  readonly gone: Set<string>;
  readonly indexed: string[];
  /** Files and folders that are not in the index. */
  readonly unindexed: string[];
}

/** Updates the index of a folder after changes. */
export class IndexUpdater {
  readonly #index: Index;
  readonly #root: string;
  readonly #isTrusted: boolean;
  readonly #selector: FileSelector;
  #excluded: readonly SkippedPath[] = [];
  #excludedFolders: ReadonlySet<string> = new Set();
  #restUntil = 0;

  constructor(index: Index, root: string, { isTrusted }: { readonly isTrusted: boolean }, selector: FileSelector) {
    this.#index = index;
    this.#root = root;
    this.#isTrusted = isTrusted;
    this.#selector = selector;
  }

  get counts(): IndexCounts {
    const { stats, bytes, isWriter } = this.#index;
    const { files, chunks, skipped } = stats;
    const unread = Object.values(skipped).reduce((sum, count) => sum + count, 0);
    return { files, chunks, bytes, skipped: unread + this.#excluded.length, isWriter };
  }

  /** Unindexed paths: those that were not selected, and files without text. */
  get skipped(): readonly SkippedPath[] {
    const unread = [...this.#index.sources()].filter(({ status }) => !hasChunks(status));
    const files = unread.map(({ path, status }): SkippedPath => ({ path, type: 'file', reason: status }));
    return [...this.#excluded, ...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** @throws the signal's reason on abort, or an error of the selector; the batch is then not indexed, or only in part. */
  async take(batch: ChangeBatch, options: UpdateOptions): Promise<void> {
    if (batch.isAll || [...batch.paths].some(isRule)) await this.#takeAll(options);
    else await this.#takePaths(batch.paths, options);
  }

  async #takeAll(options: UpdateOptions): Promise<void> {
    const { signal, onAll, onProgress } = options;
    await sleep(Math.max(0, this.#restUntil - performance.now()), undefined, { signal });
    onAll();
    const started = performance.now();
    const selected = await this.#select(undefined, signal);
    this.#restUntil = performance.now() + REST_FACTOR * (performance.now() - started);
    await this.#awaitWriter(selected.files, signal);
    await this.#awaitPermission(selected.files, options);
    await this.#index.sync(selected.files, { signal, onProgress });
    this.#exclude(selected.excluded);
  }

  async #takePaths(paths: ReadonlySet<string>, options: UpdateOptions): Promise<void> {
    const { signal } = options;
    const { gone, indexed, unindexed } = await this.#sort(paths, signal);
    await this.#index.remove(this.#sourcesOf(gone));
    if (indexed.length > 0) {
      const isKnown = (file: ListedFile): boolean => this.#index.isUnchanged(file);
      const { files, excluded } = await this.#selector.inspect(this.#root, indexed, { isKnown, signal });
      await this.#replace(indexed, { files, excluded }, options);
    }
    if (unindexed.length > MOST_UNINDEXED) await this.#takeAll(options);
    else if (unindexed.length > 0) {
      const selected = await this.#select(unindexed, signal);
      await this.#replace([...this.#sourcesOf(new Set(unindexed))], selected, options);
      this.#exclude([
        ...this.#excluded.filter(({ path }) => !isWithin(path, new Set(unindexed))),
        ...selected.excluded,
      ]);
    }
  }

  /** Indexes the selected files among the checked ones, and removes the rest. */
  async #replace(checked: readonly string[], { files, excluded }: Selected, options: UpdateOptions): Promise<void> {
    await this.#awaitPermission(files, options);
    const belongs = new Set(files.map(({ path }) => path));
    await this.#index.remove(checked.filter((path) => !belongs.has(path)));
    await this.#index.take(files, options);
    if (excluded.length > 0) {
      const now = new Set(excluded.map(({ path }) => path));
      this.#exclude([...this.#excluded.filter(({ path }) => !now.has(path)), ...excluded]);
    }
  }

  async #sort(paths: ReadonlySet<string>, signal: AbortSignal): Promise<Sorted> {
    const sorted: Sorted = { gone: new Set(), indexed: [], unindexed: [] };
    const yielder = new Yielder(signal);
    for (const path of paths) {
      if (yielder.isDue) await yielder.pause();
      const source = this.#index.source(path);
      if (source === undefined && (path.startsWith('.git/') || isWithin(path, this.#excludedFolders))) continue;
      const stats = statsOf(join(this.#root, path));
      if (stats?.isFile()) (source === undefined ? sorted.unindexed : sorted.indexed).push(path);
      else sorted.gone.add(path);
      if (stats?.isDirectory() || stats?.isSymbolicLink()) sorted.unindexed.push(path);
    }
    return sorted;
  }

  /** The indexed files that are one of these paths or are inside one. */
  #sourcesOf(paths: ReadonlySet<string>): string[] {
    if (paths.size === 0) return [];
    const files = [...paths].filter((path) => this.#index.source(path) !== undefined);
    if (files.length === paths.size) return files;
    return [...this.#index.sources()].filter(({ path }) => isWithin(path, paths)).map(({ path }) => path);
  }

  #select(only: readonly string[] | undefined, signal: AbortSignal): Promise<Selected> {
    const isKnown = (file: ListedFile): boolean => this.#index.isUnchanged(file);
    return this.#selector.select(this.#root, { isTrusted: this.#isTrusted, only, isKnown, signal });
  }

  #exclude(excluded: readonly SkippedPath[]): void {
    const folders = new Set(excluded.filter(({ type }) => type === 'directory').map(({ path }) => path));
    // A check of one path says nothing about other selected files in the same folder.
    for (const { path } of folders.size > 0 ? this.#index.sources() : []) {
      for (const folder of foldersAbove(path)) folders.delete(folder);
    }
    this.#excluded = excluded.filter(({ path, type }) => type === 'file' || folders.has(path));
    this.#excludedFolders = folders;
  }

  async #awaitPermission(files: readonly ListedFile[], { onLargeWork }: UpdateOptions): Promise<void> {
    if (this.#unreadBytes(files) > LARGE_BYTES) await onLargeWork();
  }

  #unreadBytes(files: readonly ListedFile[]): number {
    return files.reduce((sum, { path, size }) => sum + (this.#index.source(path)?.size === size ? 0 : size), 0);
  }

  /** Avoids building what the writer builds. */
  async #awaitWriter(files: readonly ListedFile[], signal: AbortSignal): Promise<void> {
    let [least, since] = [Infinity, performance.now()];
    while (!this.#index.isWriter && performance.now() - since < WRITER_TIMEOUT_MS) {
      const missing = this.#unreadBytes(files);
      if (missing < OWN_BYTES) return;
      if (missing < least) [least, since] = [missing, performance.now()];
      await sleep(WRITER_POLL_MS, undefined, { signal });
      await this.#index.refresh();
    }
  }
}

function isRule(path: string): boolean {
  return RULE_FILES.has(basename(path)) || path === REPOSITORY_RULES;
}

function isWithin(path: string, paths: ReadonlySet<string>): boolean {
  if (paths.size === 0) return false;
  if (paths.has(path)) return true;
  for (const folder of foldersAbove(path)) if (paths.has(folder)) return true;
  return false;
}

function* foldersAbove(path: string): Generator<string, void> {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) yield path.slice(0, end);
}

/** The type of a path, without following links; undefined if it cannot be determined. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
