import { availableParallelism } from 'node:os';
import type { BuildTask, Built } from './buildSegment.ts';
import { BuildThread } from './buildThread.ts';

// A batch is one segment: large enough not to leave many, small enough for all processors to end together and for a
// thread's memory.
const LEAST_BATCH_BYTES = 4_000_000;
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
  const batches = cutBatches(tasks, availableParallelism());
  let next = 0;
  const work = async (): Promise<void> => {
    await using thread = new BuildThread(program);
    const stop = (): void => thread.caller.dispose();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      for (let index = next++; index < batches.length; index = next++) {
        signal?.throwIfAborted();
        const batch = batches[index] ?? [];
        const file = nextFile();
        const plain = batch.map(({ path, knownHash }) => ({ path, knownHash }));
        const built = await thread.caller.service.builder.build(root, plain, file);
        await onBatch(batch, { ...built, file });
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  };
  const workers = Array.from({ length: Math.min(availableParallelism(), batches.length) }, work);
  const failures = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected');
  if (failures[0]?.status === 'rejected') throw failures[0].reason;
}

function cutBatches(tasks: readonly SizedTask[], threads: number): SizedTask[][] {
  const total = workOf(tasks);
  const most = Math.min(Math.max(total / (2 * threads), LEAST_BATCH_BYTES), MOST_BATCH_BYTES);
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
