import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { RpcProgram } from '../../core/rpc/rpcProgram.ts';
import type { RemoteService } from '../../core/rpc/rpcMessages.ts';
import { RemoteCaller } from '../../core/rpc/remoteCaller.ts';

/** Starting a thread again takes a tenth of a second. */
export const THREAD_IDLE_MS = 30_000;

type Groups = Readonly<Record<string, object>>;

export interface BackgroundOptions<S extends Groups> {
  /** Starts the program, in a thread or a process of its own. */
  readonly start: () => RpcProgram;
  /** In the log. */
  readonly name: string;
  readonly log: Logger;
  /** The error message for calls in progress when the program stops. */
  readonly lost: string;
  readonly idle: IdleOptions<S>;
  /** Called when the program has stopped, idle or not, and its state is lost. */
  readonly onStop?: () => void;
}

interface IdleOptions<S extends Groups> {
  /** Milliseconds without a call after which the program stops. */
  readonly afterMs: number;
  /** Whether the program has state that is still needed. */
  readonly isNeeded: (service: RemoteService<S>) => boolean | Promise<boolean>;
  /** Methods whose calls do not keep the program running. */
  readonly passive?: readonly string[];
  /** Methods whose calls last as long as the program. They are rejected with an `AbortError` when it stops. */
  readonly subscriptions?: readonly string[];
}

/**
 * A program that starts on the first call and stops when it is idle, because an idle one costs 10 MB and more. A crash rejects the calls
 * in progress. After either, the next call starts it again.
 */
export interface Background<S extends Groups> {
  readonly service: RemoteService<S>;
  readonly isRunning: boolean;
  end(): Promise<void>;
}

export function startBackground<S extends Groups>(options: BackgroundOptions<S>): Background<S> {
  const { start, name, log, lost, idle, onStop } = options;
  let current: RpcProgram | undefined;
  const caller = new RemoteCaller<S>((onLost) => {
    const program = start();
    const stopped = new AbortController();
    const stop = (): void => {
      stopped.abort();
      if (current !== program) return;
      current = undefined;
      onStop?.();
    };
    const fail = (cause?: unknown): void => {
      stop();
      onLost(new AppError('unreachable', lost, { cause }));
    };
    program.stopped.then(
      () => fail(),
      (error: unknown) => {
        log.error('a background program failed', { name, error });
        fail(error);
      },
    );
    current = program;
    const onIdle = (): void => {
      stop();
      caller.close();
      void program.terminate();
    };
    whenIdle(caller, idle, { onIdle, signal: stopped.signal }).catch((error: unknown) => {
      if (!stopped.signal.aborted) log.error('an idle background program keeps running', { name, error });
    });
    return program;
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
  const isDue = (): boolean => !caller.isBusy && performance.now() - caller.usedAt >= afterMs;
  for (let waitMs = afterMs; !signal.aborted; ) {
    await sleep(waitMs, undefined, { signal, ref: false });
    if (isDue() && !(await isNeeded(caller.service)) && isDue()) onIdle();
    const unusedMs = performance.now() - caller.usedAt;
    waitMs = unusedMs < afterMs ? afterMs - unusedMs : afterMs;
  }
}
