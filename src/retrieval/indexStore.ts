import { hash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Disposable } from '../core/lifetime.ts';
import { UNFINISHED, writeAtomically } from './atomicFile.ts';
import type { LiveSegment } from './liveSegment.ts';
import { INDEX_VERSION, readSegment, writeSegment } from './segmentFile.ts';
import { SegmentSet } from './segmentSet.ts';
import { takeWriterLock } from './writerLock.ts';

const LIST = 'segments.json';
const SEGMENT = '.segment';
// Another process may merge and remove segments between the reading of the list and of the files.
const READ_TRIES = 3;

/** What is kept besides the segments. */
interface SegmentList {
  readonly version: number;
  readonly root: string;
  /** File names, the oldest first. */
  readonly segments: readonly string[];
  /** Times of files that were touched and not changed since they were indexed. */
  readonly touched: Readonly<Record<string, number>>;
}

export interface StoredIndex {
  readonly set: SegmentSet;
  readonly touched: Map<string, number>;
}

/** The folder that holds the index of `root`, in FARWHARF_HOME. */
export function indexFolder(home: string, root: string): string {
  return join(home, 'index', hash('sha256', root, 'hex').slice(0, 32));
}

/**
 * The files of one index: its segments and the list of those that count, which is replaced as a whole. Whatever is damaged,
 * missing or of another version makes the index empty, so that it is built anew. Of several processes one may write.
 */
export class IndexStore implements Disposable {
  readonly #folder: string;
  readonly #root: string;
  readonly #lock: Disposable | undefined;

  private constructor(folder: string, root: string, lock: Disposable | undefined) {
    this.#folder = folder;
    this.#root = root;
    this.#lock = lock;
  }

  /** @throws the system's error when the folder cannot be made. */
  static async open(folder: string, root: string): Promise<IndexStore> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new IndexStore(folder, root, takeWriterLock(folder));
  }

  get isWriter(): boolean {
    return this.#lock !== undefined;
  }

  nextFile(): string {
    return join(this.#folder, `${randomUUID()}${SEGMENT}`);
  }

  /** Reads the index; undefined where there is none that is whole. */
  async read(): Promise<StoredIndex | undefined> {
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      const list = await this.#readList();
      if (list === undefined) return undefined;
      const set = new SegmentSet();
      const files = list.segments.map((name) => join(this.#folder, name));
      const segments = await Promise.all(files.map(readSegment));
      const isWhole = segments.every((segment, index) => {
        if (segment !== undefined) set.add(segment, files[index]);
        return segment !== undefined;
      });
      if (isWhole) return { set, touched: new Map(Object.entries(list.touched)) };
      if (this.isWriter) return undefined; // nobody else changes it: it is damaged
    }
    return undefined;
  }

  /** Writes what is new and lists what counts; then what is listed no more is removed. @throws the system's error. */
  async write({ set, touched }: StoredIndex): Promise<void> {
    if (!this.isWriter) return;
    for (const live of set.segments) if (live.file === undefined) await this.#writeSegment(live);
    const list: SegmentList = {
      version: INDEX_VERSION,
      root: this.#root,
      segments: set.segments.flatMap(({ file }) => (file === undefined ? [] : [file.slice(this.#folder.length + 1)])),
      touched: Object.fromEntries(touched),
    };
    const text = JSON.stringify(list);
    await writeAtomically(join(this.#folder, LIST), `${crc32(text)}\n${text}`);
    await this.#sweep(new Set(list.segments));
  }

  dispose(): void {
    this.#lock?.dispose();
  }

  async #writeSegment(live: LiveSegment): Promise<void> {
    const file = this.nextFile();
    await writeSegment(file, live.segment);
    live.file = file;
  }

  async #readList(): Promise<SegmentList | undefined> {
    const stored = await readFile(join(this.#folder, LIST), 'utf8').catch(() => '');
    const end = stored.indexOf('\n');
    const text = stored.slice(end + 1);
    if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return undefined;
    const list = JSON.parse(text) as SegmentList; // its checksum says that this program wrote it
    return list.version === INDEX_VERSION && list.root === this.#root ? list : undefined;
  }

  async #sweep(listed: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const isOurs = name.endsWith(SEGMENT) || name.endsWith(UNFINISHED);
      if (isOurs && !listed.has(name)) await rm(join(this.#folder, name), { force: true });
    }
  }
}
