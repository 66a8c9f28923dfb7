// A thread that builds segments: reading, cutting and counting a folder takes a processor for seconds.
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { serveCalls } from '../../core/processes/workerRpc.ts';
import { buildFiles, type Built } from './buildSegment.ts';
import { type SharedTasks, takeSlices } from './sharedTasks.ts';
import { LiveSegment } from '../segments/liveSegment.ts';
import { readSegment, writeSegmentSync } from '../segments/segmentFile.ts';
import { mergeSegments } from '../segments/segmentMerge.ts';

/** A segment's file, and which of its sources were removed. */
export interface MergePart {
  readonly file: string;
  readonly removed: readonly number[];
}

interface BuiltSlices extends Omit<Built, 'segment'> {
  readonly slices: readonly number[];
}

export type IndexWorkerService = {
  readonly builder: {
    /**
     * Builds a segment of about `mostSlices` slices into a file, and gives the numbers of those that it took. Its postings do not travel
     * between the threads: the other one reads the file.
     */
    build(root: string, shared: SharedTasks, mostSlices: number, file: string): BuiltSlices;

    /** Merges segments into a file. @throws Error when one of their files is not there. */
    merge(parts: readonly MergePart[], isOldest: boolean, file: string): Promise<void>;
  };
};

const service: IndexWorkerService = {
  builder: {
    build(root, shared, mostSlices, file) {
      const slices: number[] = [];
      const { segment, same, missing } = buildFiles(root, takeSlices(shared, mostSlices, slices));
      if (segment.sources.length > 0) writeSegmentSync(file, segment);
      return { slices, same, missing };
    },
    async merge(parts, isOldest, file) {
      const lives = await Promise.all(parts.map(readPart));
      writeSegmentSync(file, mergeSegments(lives, isOldest));
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
