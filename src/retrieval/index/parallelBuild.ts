import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Segment } from '../segments/segment.ts';
import { readSegment, StoredSegment } from '../segments/segmentFile.ts';
import { buildFiles, type BuildTask, type Built } from './buildSegment.ts';
import { BuildThread } from './buildThread.ts';
import { shareTasks, slicesLeft } from './sharedTasks.ts';

// Below this size, starting threads costs more time than it saves.
const PARALLEL_BYTES = 2_000_000;
// What a running thread indexes in the time that a new one needs to start and have its code optimized.
const THREAD_BYTES = 8_000_000;
// The size of one segment: large enough that there are few, small enough for a thread's memory.
const MOST_SEGMENT_BYTES = 24_000_000;
// Files are distributed in slices, small enough that all threads finish together. Without threads, other work waits for one slice.
const SLICE_BYTES = 500_000;

// Opening a file takes as long as indexing this many bytes of it.
const FILE_BYTES = 4_000;

export interface SizedTask extends BuildTask {
  readonly size: number;
}

/** The cost of reading files, as the size of a single file that takes as long. */
export function workOf(tasks: readonly SizedTask[]): number {
  return tasks.reduce((sum, { size }) => sum + size + FILE_BYTES, 0);
}

export interface BuiltBatch extends Omit<Built, 'segment'> {
  /** Undefined if the batch contains nothing new. */
  readonly segment: Segment | undefined;
  /** The file in which the segment is already stored; undefined if it was built in this thread. */
  readonly file?: string;
}

interface BuildOptions {
  readonly root: string;
  /** The program of the build threads, `indexWorker`; if undefined, segments are built in this thread. */
  readonly program: string | undefined;
  /** Returns the path for the next segment. */
  readonly nextFile: () => string;
  readonly signal?: AbortSignal | undefined;
  /** Called for each batch once it is built, in any order. */
  readonly onBatch: (tasks: readonly SizedTask[], built: BuiltBatch) => void;
}

/**
 * Builds segments from files, on all processors if that pays off, and yields meanwhile.
 *
 * @throws the signal's reason on abort, or the failure of the first thread; files written by then remain, but are not listed.
 */
export async function buildBatches(tasks: readonly SizedTask[], options: BuildOptions): Promise<void> {
  const { root, program, signal, onBatch } = options;
  signal?.throwIfAborted();
  if (program !== undefined && workOf(tasks) >= PARALLEL_BYTES) return buildInParallel(tasks, { ...options, program });
  for (const slice of cutSlices(tasks, SLICE_BYTES)) {
    onBatch(slice, buildFiles(root, slice));
    await nextTurn();
    signal?.throwIfAborted();
  }
}

async function buildInParallel(
  tasks: readonly SizedTask[],
  options: BuildOptions & { readonly program: string },
): Promise<void> {
  const { root, program, nextFile, signal, onBatch } = options;
  const total = workOf(tasks);
  const threads = Math.min(availableParallelism(), Math.max(1, Math.floor(total / THREAD_BYTES)));
  const segments = threads * Math.ceil(total / (threads * MOST_SEGMENT_BYTES));
  const slices = [...cutSlices(tasks, SLICE_BYTES)];
  const shared = shareTasks(slices);
  const most = Math.ceil(slices.length / segments);
  const work = async (): Promise<void> => {
    await using thread = new BuildThread(program);
    const stop = (): void => thread.caller.dispose();
    signal?.addEventListener('abort', stop, { once: true });
    let taken = Promise.resolve();
    try {
      while (slicesLeft(shared) > 0) {
        signal?.throwIfAborted();
        const file = nextFile();
        // The thread continues while its segment is added.
        const [built] = await Promise.all([thread.caller.service.builder.build(root, shared, most, file), taken]);
        const batch = built.slices.flatMap((slice) => slices[slice] ?? []);
        taken = readStored(file).then((segment) => onBatch(batch, { ...built, segment, file }));
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      await taken;
      signal?.removeEventListener('abort', stop);
    }
  };
  const workers = Array.from({ length: threads }, work);
  const failures = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected');
  if (failures[0]?.status === 'rejected') throw failures[0].reason;
}

async function readStored(file: string): Promise<Segment | undefined> {
  const segment = await readSegment(file);
  return segment && new StoredSegment(segment, file);
}

/** Splits files into runs that take about as long as one file of `bytes`. */
function* cutSlices(tasks: readonly SizedTask[], most: number): Generator<readonly SizedTask[], void> {
  let [slice, work]: [SizedTask[], number] = [[], 0];
  for (const task of tasks) {
    slice.push(task);
    work += workOf([task]);
    if (work < most) continue;
    yield slice;
    [slice, work] = [[], 0];
  }
  if (slice.length > 0) yield slice;
}
