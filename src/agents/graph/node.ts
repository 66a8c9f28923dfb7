import { AppError } from '../../core/errors.ts';
import { attempt, type Attemptable } from './attempts.ts';
import { type Awaitable, isPromise } from './awaitable.ts';
import { checkOptions, MAX_TIMER_SECONDS, type OptionShape, requireWholeNumber } from '../schema/optionShape.ts';
import type { ExecContext, NodeContext } from '../run/execContext.ts';
import type { CallJournal } from '../run/callJournal.ts';
import type { Pause } from '../run/pause.ts';
import type { RunOptions } from '../run/runOptions.ts';
import { startRun } from './startRun.ts';
import { canPause, execute, type Frame, hasOwnOptions, kind, optionShape } from './unit.ts';
import type { ObservedVisit } from '../run/observedVisit.ts';
import type { ExecCall } from '../records/recording.ts';

export interface NodeOptions {
  /** The most attempts of `exec` before `execFallback`; 1, the default, means no retry. */
  readonly maxRetries?: number;
  /** Seconds between a failed attempt and the next. */
  readonly wait?: number;
  /** The time limit of one attempt in seconds; an attempt over it fails. No limit if absent. */
  readonly timeout?: number;
  /** The name in traces and checkpoints; the class's name if absent. */
  readonly name?: string;
}

declare const sharedType: unique symbol;

/**
 * The part of the shared state that a node needs, compared by the compiler in both directions: a node without a declared state fits
 * everywhere, and `Node[]` and `BaseNode<any>[]` accept every node.
 */
type NeedsOf<S> = unknown extends S ? Anything : (shared: S) => void;
/** The type that fits every other and that every other fits. */
type Anything = ReturnType<typeof JSON.parse>;

type RecordedPart = Pick<ExecCall, 'input' | 'item' | 'code'>;

/**
 * The parent of Node and Flow: a unit of work with the lifecycle `prep`, `exec`, `post`.
 *
 * `S` is the shared state, `P` the result of `prep`, `E` the result of `exec` for `post`, `A` the actions that `post` returns.
 * Batch nodes call `exec` with one item (`I`) at a time, for one result (`O`).
 * Hooks may be sync or async; sync ones are not awaited.
 */
export abstract class BaseNode<
  S = unknown,
  P = unknown,
  E = unknown,
  A extends string | void = string | void,
  I = P,
  O = E,
> {
  /** Only for the compiler, which rejects a node in a flow whose shared state lacks what it needs. */
  declare readonly [sharedType]?: NeedsOf<S>;
  readonly name: string;

  constructor(options: { readonly name?: string } = {}) {
    checkOptions(`new ${this.constructor.name || 'Node'}`, options, this[optionShape], {
      hasOthers: () => hasOwnOptions(this.constructor),
    });
    this.name = options.name ?? (this.constructor.name || 'Node');
  }

  /** Reads what `exec` needs from the shared state. */
  prep(shared: S, context: NodeContext): P | Promise<P>;
  prep(): unknown {
    return undefined;
  }

  /** Does the work without the shared state, so that it can be repeated, recorded and replayed. */
  exec(prepRes: I, context: ExecContext): O | Promise<O>;
  exec(): unknown {
    return undefined;
  }

  /** Writes the result to the shared state and returns the action that chooses the next node, or a `pause`. */
  post(shared: S, prepRes: P, execRes: E, context: NodeContext): A | Pause | Promise<A | Pause>;
  post(): unknown {
    return undefined;
  }

  /** Continues a run that waits: gets the answer to the question of a `pause`, checked, and returns the action. */
  answer(shared: S, input: unknown, context: NodeContext): A | Pause | Promise<A | Pause>;
  answer(): unknown {
    throw new AppError('bad-input', `"${this.name}" has no answer(shared, input), so it cannot be asked.`);
  }

  /** Runs this node alone. */
  run(shared: S, options?: RunOptions): Promise<A>;
  run(shared: S, options: RunOptions = {}): Promise<unknown> {
    return startRun(this, shared, options);
  }

  /** @internal */
  get [optionShape](): OptionShape {
    return { name: 'string' };
  }

  /** @internal */
  get [kind](): 'node' | 'flow' {
    return 'node';
  }

  /** @internal */
  get [canPause](): boolean {
    return this.answer !== BaseNode.prototype.answer;
  }

  /** @internal */
  [execute](prepRes: P, shared: S, frame: Frame, visit: ObservedVisit | undefined): Awaitable<E>;
  // Except in batch nodes, which override this method, P is I and O is E.
  [execute](input: never, _shared: S, frame: Frame, visit: ObservedVisit | undefined): unknown {
    const live = (): Awaitable<O> => this.exec(input, frame.context);
    return remembered(visit, { input, item: undefined, code: sourceOf(this, 'exec') }, live);
  }
}

/** A node with retries: `exec` is tried up to `maxRetries` times, `wait` seconds apart, then `execFallback` is called. */
export class Node<S = unknown, P = unknown, E = unknown, A extends string | void = string | void, I = P, O = E>
  extends BaseNode<S, P, E, A, I, O>
  implements Attemptable<I, O>
{
  readonly maxRetries: number;
  readonly wait: number;
  readonly timeout: number | undefined;

  /** @throws RangeError if `maxRetries` is not a whole number of at least 1, or a time is not a number of seconds. */
  constructor(options: NodeOptions = {}) {
    super(options);
    const { maxRetries = 1, wait = 0, timeout } = options;
    requireWholeNumber(`maxRetries of "${this.name}"`, maxRetries);
    if (!(wait >= 0 && wait <= MAX_TIMER_SECONDS)) {
      throw new RangeError(`wait of "${this.name}" is ${String(wait)}; it must be a number of seconds, 0 or more.`);
    }
    if (timeout !== undefined && !(timeout > 0 && timeout <= MAX_TIMER_SECONDS)) {
      throw new RangeError(`timeout of "${this.name}" is ${String(timeout)}; it must be a number of seconds above 0.`);
    }
    this.maxRetries = maxRetries;
    this.wait = wait;
    this.timeout = timeout;
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { maxRetries: 'any', wait: 'number', timeout: 'number', name: 'string' };
  }

  /** Called with the last error after all attempts failed; returns a substitute result. Throws that error by default. */
  execFallback(_prepRes: I, error: unknown, _context: ExecContext): O | Promise<O> {
    throw error;
  }

  /** @internal */
  override [execute](prepRes: P, shared: S, frame: Frame, visit: ObservedVisit | undefined): Awaitable<E>;
  override [execute](input: never, _shared: S, frame: Frame, visit: ObservedVisit | undefined): unknown {
    // Without retries, timeout and recording, which is the most common case, a visit costs no more than the call itself.
    const isPlain = this.timeout === undefined && this.maxRetries === 1 && !hasFallback(this);
    if (isPlain && visit?.isRemembered !== true) {
      return this.exec(input, frame.context);
    }
    return attemptItem(this, { input, frame, visit });
  }
}

function hasFallback(node: Attemptable<never, unknown>): boolean {
  return node.execFallback !== Node.prototype.execFallback;
}

/** One `exec` with its retries and fallback, or its recorded result. */
export function attemptItem<I, O>(
  node: Attemptable<I, O>,
  options: { input: I; frame: Frame; visit: ObservedVisit | undefined; item?: number; signal?: AbortSignal },
): Awaitable<O> {
  const { input, frame, visit, item, signal } = options;
  const { scope } = frame;
  const journal = journalOf(frame, { item, hasOwnScope: signal !== undefined || node.timeout !== undefined });
  const call = { worker: node, hasFallback: hasFallback(node), input, scope, visit, item, signal, journal };
  if (visit?.isRemembered !== true) return attempt(call);
  return remembered(visit, { input, item, code: sourceOf(node, 'exec', 'execFallback') }, () => attempt(call));
}

/** The journal of an item, or of an `exec` that runs in a scope of its own. */
function journalOf(
  frame: Frame,
  { item, hasOwnScope }: { readonly item: number | undefined; readonly hasOwnScope: boolean },
): CallJournal | undefined {
  const { scope } = frame;
  if (item === undefined) return hasOwnScope ? scope.journal : undefined;
  const journal = scope.openJournal(item);
  const saved = frame.execItem(item);
  if (saved !== undefined) journal.restore(saved, scope.run.options.input);
  if (!hasOwnScope) scope.calls = journal;
  return journal;
}

/** The source text of methods, to detect that a node was edited since it was recorded. */
function sourceOf(node: object, ...names: readonly string[]): string {
  return names.map((name) => String(Reflect.get(node, name))).join('\n');
}

/** Returns the recorded result of a call of `exec` if there is one; otherwise runs it, and records the result if the run records. */
function remembered<O>(visit: ObservedVisit | undefined, part: RecordedPart, live: () => Awaitable<O>): Awaitable<O>;

function remembered(visit: ObservedVisit | undefined, part: RecordedPart, live: () => unknown): unknown {
  if (visit?.isRemembered !== true) return live();
  const { record, replay } = visit.run.options;
  const call: ExecCall = { ...part, path: visit.path, visit: visit.number };
  const replayed = replay?.find(call);
  if (replayed !== undefined) {
    visit.isReplayed = true;
    record?.keep(call, replayed.result);
    return replayed.result;
  }
  const keep = (result: unknown): unknown => {
    record?.keep(call, result);
    return result;
  };
  const result = live();
  return isPromise(result) ? result.then(keep) : keep(result);
}
