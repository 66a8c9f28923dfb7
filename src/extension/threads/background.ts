import { Worker } from 'node:worker_threads';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { RemoteCaller } from '../../core/processes/workerRpc.ts';

export interface BackgroundOptions {
  /** Path of the thread's built program. */
  readonly program: string;
  readonly name: string;
  readonly data?: unknown;
  readonly log: Logger;
  /** The error message for calls in progress when the thread stops. */
  readonly lost: string;
}

/** A thread that starts on the first call. A crash rejects the calls in progress, and the next call starts another thread. */
export type Background<S extends Readonly<Record<string, object>>> = RemoteCaller<S> & { end(): Promise<void> };

export function startBackground<S extends Readonly<Record<string, object>>>({
  program,
  name,
  data,
  log,
  lost,
}: BackgroundOptions): Background<S> {
  let current: Worker | undefined;
  const caller = new RemoteCaller<S>((onLost) => {
    const worker = new Worker(program, { workerData: data, name });
    worker.on('error', (error) => {
      log.error('a thread failed', { name, error });
      onLost(new AppError('unreachable', lost, { cause: error }));
    });
    worker.on('exit', () => onLost(new AppError('unreachable', lost)));
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
