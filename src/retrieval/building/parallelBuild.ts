import { availableParallelism } from 'node:os';
import type { BuildTask, Built } from './buildSegment.ts';
import { BuildThread } from './buildThread.ts';
import { shareTasks, slicesLeft } from './sharedTasks.ts';

// What a running thread indexes in the time that a new one needs to start and have its code optimized.
const THREAD_BYTES = 8_000_000;
// The size of one segment: large enough that there are few, small enough for a thread's memory.
const MOST_SEGMENT_BYTES = 24_000_000;
// Files are distributed in slices, small enough that all threads finish together.
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
  /** The file of its segment; does not exist if the batch contains nothing new. */
  readonly file: string;
}

interface ParallelOptions {
  readonly root: string;
  /** The program of the worker threads, `indexWorker`. */
  readonly program: string;
  /** Returns the path for the next segment. */
  readonly nextFile: () => string;
  readonly signal?: AbortSignal | undefined;
  /** Called for each batch once it is built, in any order. */
  readonly onBatch: (tasks: readonly SizedTask[], built: BuiltBatch) => Promise<void>;
}

/**
 * Builds segments from many files on all processors.
 *
 * @throws the signal's reason on abort, or the failure of the first thread; files written by then remain, but are not listed.
 */
export async function buildInParallel(tasks: readonly SizedTask[], options: ParallelOptions): Promise<void> {
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
        taken = onBatch(batch, { ...built, file });
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

/** Splits files into runs that take about as long as one file of `bytes`. */
export function* cutSlices(tasks: readonly SizedTask[], most: number): Generator<readonly SizedTask[], void> {
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
