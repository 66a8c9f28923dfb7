import { hash, randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { AppError, messageOf } from '../../core/errors.ts';
import { makeFolder } from '../../core/files/makeFolder.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { UNFINISHED } from '../../core/files/atomicFile.ts';
import { Journal, type JournalEntry, readJournal } from './journal.ts';
import type { LiveSegment } from '../segments/liveSegment.ts';
import type { Segment } from '../segments/segment.ts';
import { INDEX_VERSION, readSegment, writeSegment } from '../segments/segmentFile.ts';
import { markSegmentList, readSegmentList, type SegmentList, writeSegmentList } from './segmentList.ts';
import type { SegmentSet } from '../search/segmentSet.ts';
import { takeWriterLock } from './writerLock.ts';

const SEGMENT = '.segment';
const JOURNAL = '.journal';
// Another process may merge and remove segments between the reading of the list and of the files.
const READ_TRIES = 3;
// A longer journal makes opening slow; then what it says becomes segments.
const MAX_JOURNAL_BYTES = 4_000_000;

/** An index as it lies on disk: segments, the oldest first, and what changed after them. */
export interface StoredIndex {
  readonly segments: readonly { readonly segment: Segment; readonly file: string }[];
  readonly entries: readonly JournalEntry[];
}

/** An index as it is in memory. */
export interface IndexState {
  readonly set: SegmentSet;
  /** Times of files that were touched and not changed since they were indexed. */
  readonly touched: ReadonlyMap<string, number>;
}

/** The folder that holds the index of `root`, in FARWHARF_HOME. */
export function indexFolder(home: string, root: string): string {
  return join(home, 'index', hash('sha256', root, 'hex').slice(0, 32));
}

/**
 * The files of one index: segments, a journal of what changed after them, and the list that says which of them count, which is
 * replaced as a whole. A damaged list or segment makes the index empty, so that it is built anew; a damaged journal ends before
 * the damage, which leaves an older state. Of several processes one may write.
 */
export class IndexStore implements Disposable {
  readonly #folder: string;
  readonly #root: string;
  #lock: Disposable | undefined;
  #list: SegmentList | undefined;
  /** What the list's file was when it was read. */
  #listMark = '';
  #journal: Journal | undefined;
  #journalEnd = 0;
  /** Segments by their files, for a process that reads them again and again. */
  #read = new Map<string, Segment>();
  #bytes = 0;
  /** Names of segments that are being written. */
  readonly #unlisted = new Set<string>();
  /** While there is one, the journal lacks something. */
  #problem: AppError | undefined;

  private constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  /** Where the folder cannot be made or written, it reads what there is, and `problem` says why. */
  static open(folder: string, root: string): IndexStore {
    const store = new IndexStore(folder, root);
    store.takeLock();
    return store;
  }

  get isWriter(): boolean {
    return this.#lock !== undefined;
  }

  /** Why the index could not be written the last time. */
  get problem(): AppError | undefined {
    return this.#problem;
  }

  /** Of the files that count. */
  get bytes(): number {
    return this.#bytes + (this.#journal?.length ?? this.#journalEnd);
  }

  /** Becomes the writer if nobody else is; what is known of the files must be read again then. */
  takeLock(): boolean {
    try {
      makeFolder(this.#folder);
      this.#lock ??= takeWriterLock(this.#folder);
    } catch (error) {
      this.#fail(error);
    }
    return this.isWriter;
  }

  /** Lets another process write; nothing may be being written. */
  releaseLock(): void {
    this.#journalEnd = this.#journal?.length ?? this.#journalEnd;
    this.#journal = undefined;
    this.#lock?.dispose();
    this.#lock = undefined;
  }

  /** A file for a segment, which is left alone until it was listed. One that never is goes with the next process. */
  nextFile(): string {
    const name = `${randomUUID()}${SEGMENT}`;
    this.#unlisted.add(name);
    return join(this.#folder, name);
  }

  /** Reads the index; undefined where there is none that is whole. */
  async read(): Promise<StoredIndex | undefined> {
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      this.#listMark = await markSegmentList(this.#folder);
      const list = await readSegmentList(this.#folder, this.#root);
      if (list === undefined) break;
      const segments = await this.#readSegments(list.segments);
      if (segments !== undefined) {
        const journal = join(this.#folder, list.journal);
        const { entries, end } = await readJournal(journal);
        if (this.isWriter) this.#journal = new Journal(journal, end);
        this.#list = list;
        this.#journalEnd = end;
        this.#bytes = await this.#measure(list.segments);
        return { segments, entries };
      }
      if (this.isWriter) break; // nobody else changes it: it is damaged
    }
    this.#list = undefined;
    this.#journalEnd = 0;
    return undefined;
  }

  /** What another process has written since the last reading: entries, all anew, or nothing. */
  async readNews(): Promise<{ readonly isNew: boolean; readonly entries: readonly JournalEntry[] }> {
    if (this.#listMark !== (await markSegmentList(this.#folder))) return { isNew: true, entries: [] };
    if (this.#list === undefined) return { isNew: false, entries: [] };
    const { entries, end } = await readJournal(join(this.#folder, this.#list.journal), this.#journalEnd);
    this.#journalEnd = end;
    return { isNew: false, entries };
  }

  /**
   * Keeps what changed. Where only `entries` came since the last time they go to the journal; else what is new becomes
   * segments, and a new list takes the place of the old one. After a failure the next call makes up for it.
   */
  async write(state: IndexState, entries: readonly JournalEntry[]): Promise<void> {
    if (!this.isWriter) return;
    try {
      if (this.#isJournalEnough(state)) await this.#append(entries);
      else await this.#replaceList(state);
      this.#problem = undefined;
    } catch (error) {
      this.#fail(error);
    }
  }

  dispose(): void {
    this.releaseLock();
  }

  #isJournalEnough({ set }: IndexState): boolean {
    if (this.#problem !== undefined || this.#journal === undefined || this.#journal.length > MAX_JOURNAL_BYTES)
      return false;
    const files = filesOf(set.segments);
    const listed = this.#list?.segments ?? [];
    return files.length === listed.length && files.every((file, index) => basename(file) === listed[index]);
  }

  #fail(cause: unknown): void {
    const full = `The search index is not kept, since the disk that holds ${this.#folder} is full. Free some space.`;
    this.#problem = isDiskFull(cause)
      ? new AppError('no-space', full, { cause })
      : new AppError('permission', `The search index is not kept: ${messageOf(cause)}. Check ${this.#folder}.`, {
          cause,
        });
  }

  async #append(entries: readonly JournalEntry[]): Promise<void> {
    for (const entry of entries) await this.#journal?.append(entry);
  }

  async #replaceList({ set, touched }: IndexState): Promise<void> {
    for (const live of set.segments) if (live.file === undefined) await this.#writeSegment(live);
    const journal = new Journal(join(this.#folder, `${randomUUID()}${JOURNAL}`), 0);
    await journal.append({ segment: undefined, touched });
    const list = {
      version: INDEX_VERSION,
      root: this.#root,
      segments: filesOf(set.segments).map((file) => basename(file)),
      journal: basename(journal.path),
    };
    await writeSegmentList(this.#folder, list);
    this.#journal = journal;
    this.#list = list;
    for (const name of list.segments) this.#unlisted.delete(name);
    this.#bytes = await this.#measure(list.segments);
    await this.#sweep(new Set([...list.segments, list.journal]));
  }

  async #writeSegment(live: LiveSegment): Promise<void> {
    const file = join(this.#folder, `${randomUUID()}${SEGMENT}`);
    await writeSegment(file, live.segment);
    live.file = file;
  }

  async #readSegments(names: readonly string[]): Promise<StoredIndex['segments'] | undefined> {
    const segments = await Promise.all(
      names.map(async (name) => {
        const file = join(this.#folder, name);
        const segment = this.#read.get(file) ?? (await readSegment(file));
        return segment === undefined ? undefined : { segment, file };
      }),
    );
    const whole = segments.filter((segment) => segment !== undefined);
    if (whole.length < segments.length) return undefined;
    // The writer knows what it writes.
    this.#read = new Map(this.isWriter ? [] : whole.map(({ segment, file }) => [file, segment]));
    return whole;
  }

  async #measure(names: readonly string[]): Promise<number> {
    const sizes = names.map(async (name) => (await stat(join(this.#folder, name)).catch(() => undefined))?.size ?? 0);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  async #sweep(listed: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const isOurs = [SEGMENT, JOURNAL, UNFINISHED].some((end) => name.endsWith(end));
      const isAwaited = this.#unlisted.has(name.replace(/(?<=\.segment)\..*$/, ''));
      if (isOurs && !isAwaited && !listed.has(name)) await rm(join(this.#folder, name), { force: true });
    }
  }
}

function filesOf(segments: readonly LiveSegment[]): string[] {
  return segments.flatMap(({ file }) => (file === undefined ? [] : [file]));
}
