import { BuildThread } from '../building/buildThread.ts';
import { readSegment, writeSegment } from '../segments/segmentFile.ts';
import { mergeSegments } from '../segments/segmentMerge.ts';
import type { Merge, SegmentSet } from '../search/segmentSet.ts';

// Small segments that may come before they are merged: a search takes longer for each.
const MAX_YOUNG = 24;
// Merging as many postings holds everybody up for a few milliseconds; more is left to a thread.
const AT_ONCE_POSTINGS = 50_000;

export interface CompactOptions {
  /** The program of the threads that build; without it large segments are left as they are. */
  readonly program: string | undefined;
  readonly nextFile: () => string;
  /** Called when files took the place of others, which are kept until it ends. */
  readonly keep: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Merges the small segments of an index now and then, and rewrites those of which most was removed. */
export class SegmentCompactor {
  readonly #set: SegmentSet;
  /** How many segments there were the last time. */
  #settled: number;
  #isUnderWay = false;

  constructor(set: SegmentSet) {
    this.#set = set;
    this.#settled = set.segments.length;
  }

  /** Merges what is small. Gives what is too large for that, if anything. */
  compactAtOnce(): Merge | undefined {
    for (;;) {
      const due = this.#due();
      const small = due.find(({ size }) => size <= AT_ONCE_POSTINGS);
      if (small === undefined) return due[0];
      this.#set.replace(small.parts, mergeSegments(small.parts, small.isOldest));
      this.#settled = Math.min(this.#settled, this.#set.segments.length);
    }
  }

  /** Merges all that should be, one after the other; what is large by a thread, while changes and searches go on. */
  async compact(options: CompactOptions): Promise<void> {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    try {
      for (let merge = this.compactAtOnce(); merge !== undefined; merge = this.compactAtOnce()) {
        if (options.program === undefined) break;
        await this.#mergeInThread(options.program, merge, options);
      }
      this.#settled = this.#set.segments.length;
    } finally {
      this.#isUnderWay = false;
    }
  }

  #due(): Merge[] {
    const isCrowded = this.#set.segments.length > this.#settled + MAX_YOUNG;
    return [this.#set.cleaning(), isCrowded ? this.#set.youngMerge() : undefined].filter(
      (merge) => merge !== undefined,
    );
  }

  async #mergeInThread(
    program: string,
    { parts, isOldest }: Merge,
    { nextFile, keep, signal }: CompactOptions,
  ): Promise<void> {
    const stored = [];
    for (const live of parts) {
      const file = live.file ?? nextFile();
      if (live.file === undefined) await writeSegment(file, live.segment);
      live.file = file;
      stored.push({ file, removed: [...live.removedSources] });
    }
    const file = nextFile();
    await using thread = new BuildThread(program);
    const stop = (): void => thread.caller.dispose();
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      await thread.caller.service.builder.merge(stored, isOldest, file);
    } finally {
      signal.removeEventListener('abort', stop);
    }
    const segment = await readSegment(file);
    if (segment === undefined) throw new Error(`There is no segment ${file}.`);
    this.#set.replace(parts, segment, file);
    await keep();
  }
}
