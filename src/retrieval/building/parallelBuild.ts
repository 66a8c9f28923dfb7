import { availableParallelism } from 'node:os';
import type { BuildTask, Built } from './buildSegment.ts';
import { BuildThread } from './buildThread.ts';
import { shareTasks, slicesLeft } from './sharedTasks.ts';

// A thread starts, and has its code optimised, in the time in which one that is at work indexes as much.
const THREAD_BYTES = 8_000_000;
// What a thread builds is one segment: large enough not to leave many, small enough for a thread's memory.
const MOST_SEGMENT_BYTES = 24_000_000;
// Files are given out in slices, small enough for all threads to end together.
const SLICE_BYTES = 500_000;

// Opening a file takes as long as indexing so much of it.
const FILE_BYTES = 4_000;

export interface SizedTask extends BuildTask {
  readonly size: number;
}

/** How long reading files takes, in the bytes of one file for which that takes as long. */
export function workOf(tasks: readonly SizedTask[]): number {
  return tasks.reduce((sum, { size }) => sum + size + FILE_BYTES, 0);
}

export interface BuiltBatch extends Omit<Built, 'segment'> {
  /** Where its segment was written; not there when no file of the batch has anything new. */
  readonly file: string;
}

interface ParallelOptions {
  readonly root: string;
  /** The program of a worker thread, `indexWorker`. */
  readonly program: string;
  /** Gives the next free place for a segment. */
  readonly nextFile: () => string;
  readonly signal?: AbortSignal | undefined;
  /** Told of each batch that is built, in no order. */
  readonly onBatch: (tasks: readonly SizedTask[], built: BuiltBatch) => Promise<void>;
}

/**
 * Builds segments of many files on all processors.
 *
 * @throws the signal's reason on abort, or the first thread's failure; files that were written by then stay, unlisted.
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
        // The thread goes on while what it built is taken in.
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

/** Files that take about as long as one of so many bytes does, in their order. */
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
