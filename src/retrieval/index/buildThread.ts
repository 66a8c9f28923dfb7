import { Worker } from 'node:worker_threads';
import { AppError } from '../../core/errors.ts';
import { RemoteCaller } from '../../core/rpc/remoteCaller.ts';
import type { IndexWorkerService } from './indexWorker.ts';

// Limits how much garbage of a build accumulates before it is collected: with the default, the process needed nearly twice the memory and
// was not faster.
const LIMITS = { maxYoungGenerationSizeMb: 8 };

/** A worker thread that starts with the first call and stops with its owner. */
export class BuildThread implements AsyncDisposable {
  readonly caller: RemoteCaller<IndexWorkerService>;
  #worker: Worker | undefined;

  constructor(program: string) {
    this.caller = new RemoteCaller((onLost) => {
      const worker = new Worker(program, { name: 'farwharf-index', resourceLimits: LIMITS });
      const lose = (cause?: unknown): void =>
        onLost(
          new AppError('unreachable', 'A thread that was building the index stopped. Index the folder again.', {
            cause,
          }),
        );
      worker.on('error', lose);
      worker.on('exit', () => lose());
      this.#worker = worker;
      return worker;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.caller.dispose();
    await this.#worker?.terminate();
  }
}
