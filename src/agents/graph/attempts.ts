import { AppError } from '../../core/errors.ts';
import { retry } from '../../core/retry.ts';
import { type Awaitable, isPromise } from './awaitable.ts';
import { BudgetError } from '../run/budget.ts';
import { type CallJournal, CallPause } from '../run/callJournal.ts';
import { emitter, type ExecContext } from '../run/execContext.ts';
import { isPaused } from '../run/pause.ts';
import { type RunScope, scopes } from '../run/runScope.ts';
import type { ObservedVisit } from '../run/observedVisit.ts';

/** The part of a node that attempts need. */
export interface Attemptable<I, O> {
  readonly name: string;
  readonly maxRetries: number;
  readonly wait: number;
  readonly timeout: number | undefined;
  exec(input: I, context: ExecContext): Awaitable<O>;
  execFallback(input: I, error: unknown, context: ExecContext): Awaitable<O>;
}

/** The context of one `exec` with its retries. The attempt counter is local, so parallel items never share one. */
interface Call<I, O> {
  readonly worker: Attemptable<I, O>;
  /** Whether `execFallback` is overridden; the default throws the error. */
  readonly hasFallback: boolean;
  readonly input: I;
  readonly scope: RunScope;
  readonly visit: ObservedVisit | undefined;
  readonly item: number | undefined;
  /** The signal of a parallel batch; that of the walk if absent. */
  readonly signal: AbortSignal | undefined;
  /** What an item has done, and a node with a timeout, whose attempts have scopes of their own; otherwise the scope has it. */
  readonly journal: CallJournal | undefined;
}

/**
 * Runs `exec` up to `maxRetries` times, `wait` seconds apart, then `execFallback` with the last error (specification,
 * section 3). Stays synchronous when `exec` is. An abort is neither retried nor passed to the fallback.
 */
export function attempt<I, O>(call: Call<I, O>): Awaitable<O> {
  let result: Awaitable<O>;
  try {
    result = once(call, 1);
  } catch (error) {
    if (!isRecoverable(call)) throw error;
    return recover(call, async () => {
      throw error;
    });
  }
  return isPromise(result) && isRecoverable(call) ? recover(call, () => result) : result;
}

/** Whether a failure can be recovered. */
function isRecoverable<I, O>({ worker, hasFallback }: Call<I, O>): boolean {
  return hasFallback || worker.maxRetries > 1;
}

async function recover<I, O>(call: Call<I, O>, first: () => Promise<O>): Promise<O> {
  const { worker, input, visit, item } = call;
  const signal = signalOf(call);
  let attempts = 0;
  const next = async (): Promise<O> => {
    attempts += 1;
    return attempts === 1 ? first() : once(call, attempts);
  };
  const isRetried = (error: unknown): boolean => attempts < worker.maxRetries && !isFinal(error) && !isLasting(error);
  try {
    return await retry(next, {
      delayMs: (_, error) => (isRetried(error) ? worker.wait * 1000 : undefined),
      onRetry: (waitMs, error) => visit?.retry(attempts, waitMs, error, item),
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (isFinal(error)) throw error;
    if (call.hasFallback) visit?.fallback(error, item);
    return worker.execFallback(input, error, { signal, attempt: attempts, emit: emitter(visit, item) });
  }
}

/** A missing key is still missing a moment later. */
function isLasting(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not-signed-in';
}

/** Errors that another attempt cannot change and a fallback may not hide: the budget is spent, or an inner run waits. */
function isFinal(error: unknown): boolean {
  return error instanceof BudgetError || error instanceof CallPause || isPaused(error);
}

function once<I, O>(call: Call<I, O>, attempt: number): Awaitable<O> {
  const { worker, scope, visit, input, item, signal, journal } = call;
  if (attempt > 1) (journal ?? scope.journal)?.restart();
  // A single attempt is implied by the start of the node.
  if (isRecoverable(call) || item !== undefined) visit?.attempt(attempt, item);
  if (worker.timeout !== undefined) return withTimeout(call, attempt, worker.timeout);
  if (signal !== undefined) return under(signal, call, attempt);
  if (attempt === 1 && item === undefined) return worker.exec(input, visit?.context ?? scope.context);
  return worker.exec(input, { signal: signalOf(call), attempt, emit: emitter(visit, item) });
}

/** Calls `exec` with a signal that model requests inside it inherit. */
function under<I, O>(signal: AbortSignal, call: Call<I, O>, attempt: number): Awaitable<O> {
  const { worker, scope, input, visit, item } = call;
  const context: ExecContext = { signal, attempt, emit: emitter(visit, item) };
  return scopes.run(scope.under(signal, call.journal), () => worker.exec(input, context));
}

function signalOf<I, O>({ signal, scope }: Call<I, O>): AbortSignal {
  return signal ?? scope.context.signal;
}

/** An attempt that fails after its timeout, even if `exec` ignores the signal. A later result is dropped. */
async function withTimeout<I, O>(call: Call<I, O>, attempt: number, seconds: number): Promise<O> {
  const outer = signalOf(call);
  const controller = new AbortController();
  const forward = (): void => controller.abort(outer.reason);
  outer.addEventListener('abort', forward, { once: true });
  const timer = setTimeout(() => {
    const message = `An attempt of "${call.worker.name}" took longer than its timeout of ${seconds} s.`;
    controller.abort(new AppError('limit', message));
  }, seconds * 1000);
  try {
    const { signal } = controller;
    return await Promise.race([untilAborted(signal), under(signal, call, attempt)]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', forward);
  }
}

/** Rejects with the signal's reason once it is aborted. */
async function untilAborted(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  throw signal.reason;
}
