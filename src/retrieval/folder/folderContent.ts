import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildFiles, type BuildTask } from '../building/buildSegment.ts';
import type { IndexedFile, ListedFile } from '../building/indexedFile.ts';
import type { IndexState, StoredIndex } from '../store/indexStore.ts';
import type { JournalEntry } from '../store/journal.ts';
import { type BuiltBatch, buildInParallel, cutSlices, type SizedTask, workOf } from '../building/parallelBuild.ts';
import { hasChunks, type Segment, type Source, type SourceStatus } from '../segments/segment.ts';
import { SegmentBuilder } from '../segments/segmentBuilder.ts';
import { readSegment } from '../segments/segmentFile.ts';
import { StoredSegment } from '../segments/storedSegment.ts';
import { SegmentSet } from '../search/segmentSet.ts';
import { SegmentCompactor, type CompactOptions } from '../store/segmentCompactor.ts';

// Below this size, starting threads costs more time than it saves.
const PARALLEL_BYTES = 2_000_000;
// Built in one step if there are no threads; other work waits that long.
const SLICE_BYTES = 500_000;

export interface IndexStats {
  readonly files: number;
  readonly chunks: number;
  /** The number of files without chunks, by reason. */
  readonly skipped: Readonly<Partial<Record<SourceStatus, number>>>;
}

export interface SyncOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The result of an update, in files. */
export interface SyncSummary {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

interface BuildOptions extends SyncOptions {
  /** The program of the build threads; if undefined, segments are built in this thread. */
  readonly program: string | undefined;
  readonly nextFile: () => string;
  /** Called after a change. */
  readonly onBatch: () => void;
}

/**
 * The state of a folder's index: its segments, and the times of files that were touched without a change. Changes can be searched
 * at once; `takeEntries` returns the journal entries that persist them.
 */
export class FolderContent implements IndexState {
  readonly set = new SegmentSet();
  readonly touched = new Map<string, number>();
  readonly #root: string;
  readonly #compactor: SegmentCompactor;
  #entries: JournalEntry[] = [];
  #stats: IndexStats | undefined;
  /** Paths that were indexed singly during a large build, which may still contain their older versions. */
  #meanwhile: Set<string> | undefined;

  constructor(root: string, stored?: StoredIndex) {
    this.#root = root;
    for (const { segment, file } of stored?.segments ?? []) this.set.add(segment, file);
    this.#compactor = new SegmentCompactor(this.set);
    for (const entry of stored?.entries ?? []) {
      this.replay(entry);
      this.#compactor.compactAtOnce();
    }
  }

  get stats(): IndexStats {
    // Counting takes milliseconds in a large folder, and the result is needed often.
    this.#stats ??= countSources(this.set);
    return this.#stats;
  }

  /** Whether a file has the same size and time as when it was indexed. */
  isAsKnown({ path, size, mtimeMs }: ListedFile): boolean {
    const source = this.set.source(path);
    if (source === undefined || source.size !== size) return false;
    return (this.touched.get(path) ?? source.mtimeMs) === mtimeMs;
  }

  /** Returns the changes since the last call. */
  takeEntries(): readonly JournalEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  /** Applies entries that another process, or an earlier run of this one, has stored. */
  replay({ segment, touched }: JournalEntry): void {
    if (segment !== undefined) this.#add(segment);
    for (const [path, mtimeMs] of touched) this.touched.set(path, mtimeMs);
  }

  /** Merges segments if that pays off; other work continues meanwhile. @throws Error if a thread or the disk fails; nothing is lost. */
  compact(options: CompactOptions): Promise<void> {
    return this.#compactor.compact(options);
  }

  /**
   * Reads files, on all processors if that pays off, and yields meanwhile. Returns how many turned out to be unchanged.
   *
   * @throws the signal's reason on abort; what was read until then is indexed.
   */
  async build(tasks: readonly SizedTask[], options: BuildOptions): Promise<number> {
    const { program, nextFile, signal, onProgress, onBatch } = options;
    const total = tasks.reduce((sum, { size }) => sum + size, 0);
    let [done, same] = [0, 0];
    const end = (batch: readonly SizedTask[], sameInBatch: number): void => {
      this.read(batch.map(({ path }) => path).filter((path) => this.#meanwhile?.has(path)));
      done += batch.reduce((sum, { size }) => sum + size, 0);
      same += sameInBatch;
      onProgress?.(done, total);
      onBatch();
    };
    signal?.throwIfAborted();
    this.#meanwhile = new Set();
    try {
      if (program !== undefined && workOf(tasks) >= PARALLEL_BYTES) {
        const take = async (batch: readonly SizedTask[], built: BuiltBatch): Promise<void> => {
          await this.#takeBatch(built);
          end(batch, built.same.length);
        };
        await buildInParallel(tasks, { root: this.#root, program, nextFile, signal, onBatch: take });
      } else {
        for (const slice of cutSlices(tasks, SLICE_BYTES)) {
          end(slice, this.#readTasks(slice));
          await nextTurn();
          signal?.throwIfAborted();
        }
      }
    } finally {
      this.#meanwhile = undefined;
    }
    return same;
  }

  /** Reads files in this thread, without yielding. */
  read(paths: readonly string[]): void {
    if (paths.length === 0) return;
    this.#readTasks(paths.map((path) => ({ path, knownHash: this.set.source(path)?.hash })));
    for (const path of paths) this.#meanwhile?.add(path);
  }

  remove(paths: readonly string[]): void {
    const known = paths.filter((path) => this.set.source(path) !== undefined);
    if (known.length > 0) this.#keep(buildFiles(this.#root, [], known).segment, []);
  }

  /** Makes searches see this version of a file instead of the indexed one; undefined restores the indexed one. */
  show(path: string, file: IndexedFile | undefined): void {
    if (file === undefined) {
      this.set.setOverlay(path, undefined);
      return;
    }
    const builder = new SegmentBuilder();
    builder.add(file.source, file.chunks);
    this.set.setOverlay(path, builder.finish());
  }

  #readTasks(tasks: readonly BuildTask[]): number {
    const { segment, same, missing } = buildFiles(this.#root, tasks);
    this.#keep(segment, same);
    this.remove(missing);
    return same.length;
  }

  async #takeBatch({ file, same, missing }: BuiltBatch): Promise<void> {
    const segment = await readSegment(file);
    if (segment !== undefined) this.#add(new StoredSegment(segment, file), file);
    this.#keep(undefined, same);
    this.remove(missing);
  }

  #keep(segment: Segment | undefined, same: readonly Source[]): void {
    const settled = same.filter(({ mtimeMs }) => mtimeMs > 0);
    const touched = new Map(settled.map(({ path, mtimeMs }) => [path, mtimeMs]));
    const isEmpty = segment === undefined || segment.sources.length === 0;
    if (isEmpty && touched.size === 0) return;
    const entry = { segment: isEmpty ? undefined : segment, touched };
    this.#entries.push(entry);
    this.replay(entry);
  }

  #add(segment: Segment, file?: string): void {
    for (const { path } of segment.sources) this.touched.delete(path);
    this.set.add(segment, file);
    this.#stats = undefined;
  }
}

function countSources(set: SegmentSet): IndexStats {
  const skipped: Partial<Record<SourceStatus, number>> = {};
  let files = 0;
  for (const { status } of set.sources()) {
    if (hasChunks(status)) files += 1;
    else skipped[status] = (skipped[status] ?? 0) + 1;
  }
  return { files, chunks: set.documentCount, skipped };
}
