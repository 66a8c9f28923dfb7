// A thread that builds segments, because reading, chunking and counting a folder occupies a processor for seconds.
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { serveCalls } from '../../core/rpc/serveCalls.ts';
import { buildFiles, type Built } from './buildSegment.ts';
import { type SharedTasks, takeSlices } from './sharedTasks.ts';
import { LiveSegment } from '../segments/liveSegment.ts';
import { readSegment, writeSegmentSync } from '../segments/segmentFile.ts';
import { mergeSegments } from '../segments/segmentMerge.ts';

/** The file of a segment, and which of its sources were removed. */
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
     * Builds a segment of about `mostSlices` slices into a file, and returns their numbers. The segment is not passed between the
     * threads; the other one reads the file.
     */
    build(root: string, shared: SharedTasks, mostSlices: number, file: string): BuiltSlices;

    /** Merges segments into a file. @throws Error if one of their files does not exist. */
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
  if (segment === undefined) throw new Error(`Segment ${file} does not exist.`);
  const live = new LiveSegment(segment, file);
  for (const source of removed) live.remove(source);
  return live;
}

/** Lowers this thread's priority. On other systems than Linux, the priority would be that of the whole process, the editor's. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL)); // affects the calling thread only
  } catch {
    // if that is not allowed, the thread keeps its priority
  }
}

if (parentPort !== null) {
  giveWay();
  serveCalls(parentPort, service);
}
