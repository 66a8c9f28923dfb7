import { setTimeout as sleep } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { RemoteService } from '../../core/rpc/rpcMessages.ts';
import { RemoteCaller } from '../../core/rpc/remoteCaller.ts';

/** Starting a thread again takes a tenth of a second. */
export const THREAD_IDLE_MS = 30_000;

type Groups = Readonly<Record<string, object>>;

export interface BackgroundOptions<S extends Groups> {
  /** Path of the thread's built program. */
  readonly program: string;
  readonly name: string;
  readonly data?: unknown;
  readonly limits?: ResourceLimits;
  readonly log: Logger;
  /** The error message for calls in progress when the thread stops. */
  readonly lost: string;
  readonly idle: IdleOptions<S>;
  /** Called when the thread has stopped, idle or not, and its state is lost. */
  readonly onStop?: () => void;
}

interface IdleOptions<S extends Groups> {
  /** Milliseconds without a call after which the thread stops. */
  readonly afterMs: number;
  /** Whether the thread has state that is still needed. */
  readonly isNeeded: (service: RemoteService<S>) => boolean | Promise<boolean>;
  /** Methods whose calls do not keep the thread running. */
  readonly passive?: readonly string[];
  /** Methods whose calls last as long as the thread. They are rejected with an `AbortError` when it stops. */
  readonly subscriptions?: readonly string[];
}

/**
 * A thread that starts on the first call and stops when it is idle, because an idle one costs 10 MB and more. A crash rejects the calls
 * in progress. After either, the next call starts another thread.
 */
export interface Background<S extends Groups> {
  readonly service: RemoteService<S>;
  readonly isRunning: boolean;
  end(): Promise<void>;
}

export function startBackground<S extends Groups>(options: BackgroundOptions<S>): Background<S> {
  const { program, name, data, limits, log, lost, idle, onStop } = options;
  let current: Worker | undefined;
  const caller = new RemoteCaller<S>((onLost) => {
    const worker = new Worker(program, { workerData: data, name, ...(limits && { resourceLimits: limits }) });
    const stopped = new AbortController();
    const stop = (): void => {
      stopped.abort();
      if (current !== worker) return;
      current = undefined;
      onStop?.();
    };
    worker.on('error', (error) => {
      log.error('a thread failed', { name, error });
      stop();
      onLost(new AppError('unreachable', lost, { cause: error }));
    });
    worker.on('exit', () => {
      stop();
      onLost(new AppError('unreachable', lost));
    });
    current = worker;
    const onIdle = (): void => {
      stop();
      caller.close();
      void worker.terminate();
    };
    whenIdle(caller, idle, { onIdle, signal: stopped.signal }).catch((error: unknown) => {
      if (!stopped.signal.aborted) log.error('an idle thread keeps running', { name, error });
    });
    return worker;
  }, idle);
  return {
    service: caller.service,
    get isRunning() {
      return current !== undefined;
    },
    end: async () => {
      caller.dispose();
      await current?.terminate();
    },
  };
}

/** Calls `onIdle` once nothing was called for a while and nothing is needed. The wait keeps no process alive. */
async function whenIdle<S extends Groups>(
  caller: RemoteCaller<S>,
  { afterMs, isNeeded }: IdleOptions<S>,
  { onIdle, signal }: { readonly onIdle: () => void; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { usedAt } = caller;
    const isUnused = (): boolean => !caller.isBusy && caller.usedAt === usedAt;
    await sleep(afterMs, undefined, { signal, ref: false });
    if (isUnused() && !(await isNeeded(caller.service)) && isUnused()) onIdle();
  }
}
