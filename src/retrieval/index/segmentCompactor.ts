import { BuildThread } from './buildThread.ts';
import { readSegment, writeSegment } from '../segments/segmentFile.ts';
import { mergeSegments } from '../segments/segmentMerge.ts';
import type { Merge, SegmentSet } from '../search/segmentSet.ts';

// The number of small segments before they are merged; each makes searches slower.
const MAX_YOUNG = 24;
// Merging this many postings blocks for a few milliseconds; more is done by a thread.
const AT_ONCE_POSTINGS = 50_000;

export interface CompactOptions {
  /** The program of the build threads; if undefined, large segments are not merged. */
  readonly program: string | undefined;
  readonly nextFile: () => string;
  /** Called when files have replaced others, which are kept until it returns. */
  readonly keep: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Merges the small segments of an index from time to time, and rewrites those of which most was removed. */
export class SegmentCompactor {
  readonly #set: SegmentSet;
  /** The number of segments after the last merge. */
  #settled: number;
  #isUnderWay = false;

  constructor(set: SegmentSet) {
    this.#set = set;
    this.#settled = set.all.length;
  }

  /** Merges small segments. Returns those that are too large to merge here, if any. */
  compactAtOnce(): Merge | undefined {
    for (;;) {
      const due = this.#due();
      const small = due.find(({ size }) => size <= AT_ONCE_POSTINGS);
      if (small === undefined) return due[0];
      this.#set.replace(small.parts, mergeSegments(small.parts, small.isOldest));
      this.#settled = Math.min(this.#settled, this.#set.all.length);
    }
  }

  /** Merges all segments that need it, one after the other; large ones in a thread, while changes and searches continue. */
  async compact(options: CompactOptions): Promise<void> {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    try {
      for (let merge = this.compactAtOnce(); merge !== undefined; merge = this.compactAtOnce()) {
        if (options.program === undefined) break;
        await this.#mergeInThread(options.program, merge, options);
      }
      this.#settled = this.#set.all.length;
    } finally {
      this.#isUnderWay = false;
    }
  }

  #due(): Merge[] {
    const isCrowded = this.#set.all.length > this.#settled + MAX_YOUNG;
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
    if (segment === undefined) throw new Error(`Segment ${file} does not exist.`);
    this.#set.replace(parts, segment, file);
    await keep();
  }
}
