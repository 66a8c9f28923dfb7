import { hash, randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { AppError, messageOf } from '../../core/errors.ts';
import { makeFolder } from '../../core/files/makeFolder.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import { UNFINISHED, writeAtomically } from '../../core/files/atomicFile.ts';
import { Journal, type JournalEntry, readJournal } from './journal.ts';
import type { LiveSegment } from '../segments/liveSegment.ts';
import type { Segment } from '../segments/segment.ts';
import { INDEX_VERSION, readSegment, writeSegment } from '../segments/segmentFile.ts';
import type { SegmentSet } from '../search/segmentSet.ts';
import { takeWriterLock } from './writerLock.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { NON_BLOCKING_READ } from '../segments/nonBlockingRead.ts';

const SEGMENT = '.segment';
const JOURNAL = '.journal';
// Another process may merge and remove segments after the list was read and before the files are.
const READ_TRIES = 3;
// A longer journal makes opening slow, so its entries are then written as segments.
const MAX_JOURNAL_BYTES = 4_000_000;
const LIST = 'segments.json';

/** An index on disk: segments, oldest first, and the changes after them. */
export interface StoredIndex {
  readonly segments: readonly { readonly segment: Segment; readonly file: string }[];
  readonly entries: readonly JournalEntry[];
}

/** An index in memory. */
interface IndexState {
  readonly segments: SegmentSet;
  /** Times of files that were touched but not changed since they were indexed. */
  readonly touched: ReadonlyMap<string, number>;
}

/** Which files in an index's folder count. */
interface SegmentList {
  readonly version: number;
  /** The folder that is indexed. */
  readonly root: string;
  /** File names, oldest first. */
  readonly segments: readonly string[];
  /** The file with the changes after them. */
  readonly journal: string;
}

/** The folder in FARWHARF_HOME that contains the index of `root`. */
export function indexPath(home: string, root: string): string {
  return join(home, 'index', hash('sha256', root, 'hex').slice(0, 32));
}

/**
 * The files of one index: segments, a journal of the changes after them, and a list of the files that count, which is replaced
 * atomically. If the list or a segment is damaged, the index is empty, so that it is built again; a damaged journal ends before the
 * damage, which leaves an older state. One process at a time may write.
 */
export class IndexStore implements Disposable {
  readonly #folder: string;
  readonly #root: string;
  #lock: Disposable | undefined;
  #list: SegmentList | undefined;
  /** The version of the list that was read last. */
  #listMark = '';
  #journal: Journal | undefined;
  #journalEnd = 0;
  /** Segments by file name, so that a process that reads the index repeatedly does not load them again. */
  #read = new Map<string, Segment>();
  #bytes = 0;
  /** Names of segments that are being written. */
  readonly #unlisted = new Set<string>();
  /** While set, the journal is incomplete. */
  #problem: AppError | undefined;

  private constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  /** If the folder cannot be created or written, the index is read only, and `problem` says why. */
  static open(folder: string, root: string): IndexStore {
    const store = new IndexStore(folder, root);
    store.takeLock();
    return store;
  }

  get isWriter(): boolean {
    return this.#lock !== undefined;
  }

  /** Why the last write failed. */
  get problem(): AppError | undefined {
    return this.#problem;
  }

  /** The total size of the listed files. */
  get bytes(): number {
    return this.#bytes + (this.#journal?.length ?? this.#journalEnd);
  }

  /** Becomes the writer if no other process is. The index must then be read again. */
  takeLock(): boolean {
    try {
      makeFolder(this.#folder);
      this.#lock ??= takeWriterLock(this.#folder);
    } catch (error) {
      this.#fail(error);
    }
    return this.isWriter;
  }

  /** Allows another process to write. No write may be in progress. */
  releaseLock(): void {
    this.#journalEnd = this.#journal?.length ?? this.#journalEnd;
    this.#journal = undefined;
    this.#lock?.dispose();
    this.#lock = undefined;
  }

  /** Takes the lock again, which creates its file and the folder if they were removed. */
  renewLock(): void {
    this.releaseLock();
    this.takeLock();
  }

  /** Path of a file for a new segment, which is not removed until it was listed. The next process removes one that never is. */
  nextFile(): string {
    const name = `${randomUUID()}${SEGMENT}`;
    this.#unlisted.add(name);
    return join(this.#folder, name);
  }

  /** Reads the index; undefined if there is none, or it is damaged. */
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
      if (this.isWriter) break; // no other process changes it, so it is damaged
    }
    this.#list = undefined;
    this.#journalEnd = 0;
    return undefined;
  }

  /** What another process has written since the last read: entries, a whole new index, or nothing. */
  async readNews(): Promise<{ readonly isNew: boolean; readonly entries: readonly JournalEntry[] }> {
    if (this.#listMark !== (await markSegmentList(this.#folder))) return { isNew: true, entries: [] };
    if (this.#list === undefined) return { isNew: false, entries: [] };
    const { entries, end } = await readJournal(join(this.#folder, this.#list.journal), this.#journalEnd);
    this.#journalEnd = end;
    return { isNew: false, entries };
  }

  /**
   * Stores changes. If they consist of `entries` only, these are added to the journal; otherwise new content is written as segments, and
   * a new list replaces the old one. After a failure, the next call writes what is missing.
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

  #isJournalEnough({ segments }: IndexState): boolean {
    if (this.#problem !== undefined || this.#journal === undefined || this.#journal.length > MAX_JOURNAL_BYTES)
      return false;
    const files = filesOf(segments.all);
    const listed = this.#list?.segments ?? [];
    return files.length === listed.length && files.every((file, index) => basename(file) === listed[index]);
  }

  #fail(cause: unknown): void {
    const full = `The search index cannot be stored, because the disk of ${this.#folder} is full. Free some space.`;
    this.#problem = isDiskFull(cause)
      ? new AppError('no-space', full, { cause })
      : new AppError('permission', `The search index cannot be stored: ${messageOf(cause)}. Check ${this.#folder}.`, {
          cause,
        });
  }

  async #append(entries: readonly JournalEntry[]): Promise<void> {
    for (const entry of entries) await this.#journal?.append(entry);
  }

  async #replaceList({ segments, touched }: IndexState): Promise<void> {
    for (const live of segments.all) if (live.file === undefined) await this.#writeSegment(live);
    const journal = new Journal(join(this.#folder, `${randomUUID()}${JOURNAL}`), 0);
    await journal.append({ segment: undefined, touched });
    const list = {
      version: INDEX_VERSION,
      root: this.#root,
      segments: filesOf(segments.all).map((file) => basename(file)),
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
    // The writer has its own version in memory.
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

/** Reads the list; undefined if there is none, or it is damaged, of another version or of another folder. */
export async function readSegmentList(folder: string, root: string): Promise<SegmentList | undefined> {
  const stored = await readFile(join(folder, LIST), { encoding: 'utf8', flag: NON_BLOCKING_READ }).catch(() => '');
  const end = stored.indexOf('\n');
  const text = stored.slice(end + 1);
  if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return undefined;
  const list = parseOwnJson<SegmentList>(text);
  return list.version === INDEX_VERSION && list.root === root ? list : undefined;
}

/** Replaces the list atomically. @throws the system's error; the old list stays then. */
export async function writeSegmentList(folder: string, list: SegmentList): Promise<void> {
  const text = JSON.stringify(list);
  await writeAtomically(join(folder, LIST), `${crc32(text)}\n${text}`);
}

/** A value that changes whenever the list is replaced; empty if there is none. */
async function markSegmentList(folder: string): Promise<string> {
  const stats = await stat(join(folder, LIST)).catch(() => undefined);
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeMs].join(':');
}
