import { availableParallelism } from 'node:os';
import type { BuildTask, Built } from './buildSegment.ts';
import { BuildThread } from './buildThread.ts';

// A thread starts, and has its code optimised, in the time in which one that is at work indexes as much.
const THREAD_BYTES = 8_000_000;
// A batch is one segment: large enough not to leave many, small enough for all processors to end together and for a
// thread's memory.
const MOST_BATCH_BYTES = 24_000_000;

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
  const batches = cutBatches(tasks, total, threads);
  let next = 0;
  const work = async (): Promise<void> => {
    await using thread = new BuildThread(program);
    const stop = (): void => thread.caller.dispose();
    signal?.addEventListener('abort', stop, { once: true });
    let taken = Promise.resolve();
    try {
      for (let index = next++; index < batches.length; index = next++) {
        signal?.throwIfAborted();
        const batch = batches[index] ?? [];
        const file = nextFile();
        const plain = batch.map(({ path, knownHash }) => ({ path, knownHash }));
        // The thread goes on while its last batch is taken in.
        const [built] = await Promise.all([thread.caller.service.builder.build(root, plain, file), taken]);
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
  const workers = Array.from({ length: Math.min(threads, batches.length) }, work);
  const failures = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected');
  if (failures[0]?.status === 'rejected') throw failures[0].reason;
}

/** Batches of the same size, as many for each thread. */
function cutBatches(tasks: readonly SizedTask[], total: number, threads: number): SizedTask[][] {
  const leastRounds = threads > 1 ? 2 : 1; // a thread that is faster than another takes over from it
  const rounds = Math.max(leastRounds, Math.ceil(total / (threads * MOST_BATCH_BYTES)));
  const most = total / (threads * rounds);
  const batches: SizedTask[][] = [];
  let bytes = Infinity;
  for (const task of tasks) {
    if (bytes >= most) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(task);
    bytes += workOf([task]);
  }
  return batches;
}
