import { type BuildTask, buildFiles } from './buildSegment.ts';
import type { ListedFile } from './indexedFile.ts';
import type { IndexStore, StoredIndex } from './indexStore.ts';
import { buildInParallel, type SizedTask } from './parallelBuild.ts';
import type { Segment, Source } from './segment.ts';
import { readSegment } from './segmentFile.ts';
import { SegmentSet } from './segmentSet.ts';

// Below this, starting threads takes longer than they save.
const PARALLEL_BYTES = 2_000_000;

interface BuildOptions {
  /** The program of the threads that build; without it everything is built in this one. */
  readonly program: string | undefined;
  readonly store: IndexStore;
  readonly signal: AbortSignal | undefined;
  readonly onBatch: (tasks: readonly SizedTask[]) => void;
}

/** What the index of a folder knows: its segments, and the times of files that were touched without a change. */
export class FolderContent implements StoredIndex {
  readonly set: SegmentSet;
  readonly touched: Map<string, number>;
  readonly #root: string;

  constructor(
    root: string,
    { set, touched }: StoredIndex = { set: new SegmentSet(), touched: new Map<string, number>() },
  ) {
    this.#root = root;
    this.set = set;
    this.touched = touched;
  }

  /** Whether a file has the size and the time that it had when it was indexed. */
  isAsKnown({ path, size, mtimeMs }: ListedFile): boolean {
    const source = this.set.source(path);
    if (source === undefined || source.size !== size) return false;
    return (this.touched.get(path) ?? source.mtimeMs) === mtimeMs;
  }

  /** Builds on all processors where that pays; gives the number of files that turned out to be the same. */
  async build(
    tasks: readonly SizedTask[],
    removed: readonly string[],
    { program, store, signal, onBatch }: BuildOptions,
  ): Promise<number> {
    const bytes = tasks.reduce((sum, { size }) => sum + size, 0);
    signal?.throwIfAborted();
    if (program === undefined || !store.isWriter || bytes < PARALLEL_BYTES) {
      const same = this.index(tasks, removed);
      onBatch(tasks);
      return same;
    }
    const nextFile = (): string => store.nextFile();
    const batches = await buildInParallel(tasks, { root: this.#root, program, nextFile, signal, onBatch });
    const missing: string[] = [];
    let same = 0;
    for (const batch of batches) {
      const segment = await readSegment(batch.file);
      if (segment !== undefined) this.#add(segment, batch.file);
      this.#remember(batch.same);
      same += batch.same.length;
      missing.push(...batch.missing);
    }
    this.index([], [...removed, ...missing]);
    return same;
  }

  /** Builds here and now, as `#build` does. */
  index(tasks: readonly BuildTask[], removed: readonly string[]): number {
    const built = buildFiles(this.#root, tasks);
    this.#add(built.segment);
    this.#remember(built.same);
    const gone = [...removed, ...built.missing].filter((path) => this.set.source(path) !== undefined);
    if (gone.length > 0) this.#add(buildFiles(this.#root, [], gone).segment);
    this.set.compact();
    return built.same.length;
  }

  #add(segment: Segment, file?: string): void {
    if (segment.sources.length === 0) return;
    for (const { path } of segment.sources) this.touched.delete(path);
    this.set.add(segment, file);
  }

  #remember(same: readonly Source[]): void {
    for (const { path, mtimeMs } of same) if (mtimeMs > 0) this.touched.set(path, mtimeMs);
  }
}
