// A thread that builds segments: reading, cutting and counting a folder takes a processor for seconds.
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { serveCalls } from '../../core/workerRpc.ts';
import { type BuildTask, buildFiles, type Built } from './buildSegment.ts';
import { LiveSegment } from '../segments/liveSegment.ts';
import { readSegment, writeSegment } from '../segments/segmentFile.ts';
import { mergeSegments } from '../segments/segmentMerge.ts';

/** A segment's file, and which of its sources were removed. */
export interface MergePart {
  readonly file: string;
  readonly removed: readonly number[];
}

export type IndexWorkerService = {
  readonly builder: {
    /** Builds a segment into a file. Its postings do not travel between the threads: the other one reads the file. */
    build(root: string, tasks: readonly BuildTask[], file: string): Promise<Omit<Built, 'segment'>>;

    /** Merges segments into a file. @throws Error when one of their files is not there. */
    merge(parts: readonly MergePart[], isOldest: boolean, file: string): Promise<void>;
  };
};

const service: IndexWorkerService = {
  builder: {
    async build(root, tasks, file) {
      const { segment, ...rest } = buildFiles(root, tasks);
      if (segment.sources.length > 0) await writeSegment(file, segment);
      return rest;
    },
    async merge(parts, isOldest, file) {
      const lives = await Promise.all(parts.map(readPart));
      await writeSegment(file, mergeSegments(lives, isOldest));
    },
  },
};

async function readPart({ file, removed }: MergePart): Promise<LiveSegment> {
  const segment = await readSegment(file);
  if (segment === undefined) throw new Error(`There is no segment ${file}.`);
  const live = new LiveSegment(segment, file);
  for (const source of removed) live.remove(source);
  return live;
}

/** Lets all that somebody waits for go first. Elsewhere than on Linux a priority is that of the whole process, the editor's. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL)); // of the calling thread
  } catch {
    // where that is forbidden, it builds as everything else runs
  }
}

if (parentPort !== null) {
  giveWay();
  serveCalls(parentPort, service);
}
