import { Worker } from 'node:worker_threads';
import { AppError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { RemoteCaller } from '../core/workerRpc.ts';
import type { WorkerService } from './worker.ts';

/**
 * The worker thread with the ledger and the archive functions. It starts at the first call; after a crash, which rejects what was
 * under way, the next call starts another one.
 */
export function startBackground(
  program: string,
  home: string,
  log: Logger,
): RemoteCaller<WorkerService> & { end(): Promise<void> } {
  let current: Worker | undefined;
  const caller = new RemoteCaller<WorkerService>((onLost) => {
    // Its memory is bounded: the archive functions stream, and the ledger is on disk.
    const worker = new Worker(program, { workerData: { home }, name: 'farwharf' });
    worker.on('error', (error) => {
      log.error('the worker failed', { error });
      onLost(
        new AppError('unreachable', 'A background part of Farwharf stopped. Nothing was sent; try again.', {
          cause: error,
        }),
      );
    });
    worker.on('exit', (code) => {
      onLost(new AppError('unreachable', `A background part of Farwharf ended (code ${code}). Try again.`));
    });
    current = worker;
    return worker;
  });
  return Object.assign(caller, {
    end: async () => {
      caller.dispose();
      await current?.terminate();
    },
  });
}
