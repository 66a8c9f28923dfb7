import { Worker } from 'node:worker_threads';
import { AppError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { RemoteCaller, type Service } from '../core/workerRpc.ts';

export interface ThreadOptions {
  /** For logs and debuggers. */
  readonly name: string;
  /** Absolute path of the built file. */
  readonly program: string;
  readonly workerData: Readonly<Record<string, unknown>>;
  readonly log: Logger;
  /** What a person is told when a call was under way while the thread failed. */
  readonly lost: string;
}

/** Another thread that serves calls. It starts at the first one; after a crash, which rejects what was under way, the next call starts another thread. */
export class Thread<S extends Service> {
  readonly #caller: RemoteCaller<S>;
  #current: Worker | undefined;

  constructor({ name, program, workerData, log, lost }: ThreadOptions) {
    this.#caller = new RemoteCaller<S>((onLost) => {
      // Its memory is bounded: what it serves streams or is on disk.
      const worker = new Worker(program, { workerData, name });
      worker.on('error', (error) => {
        log.error('a thread failed', { name, error });
        onLost(new AppError('unreachable', lost, { cause: error }));
      });
      worker.on('exit', (code) => onLost(new AppError('unreachable', `${lost} (It ended with code ${code}.)`)));
      this.#current = worker;
      return worker;
    });
  }

  get service(): RemoteCaller<S>['service'] {
    return this.#caller.service;
  }

  /** Ends it; calls that are under way are rejected as aborted. */
  async end(): Promise<void> {
    this.#caller.dispose();
    await this.#current?.terminate();
  }
}
