import { AppError } from '../../core/errors.ts';
import { isPromise } from './awaitable.ts';
import { attemptItem, Node, type NodeOptions } from './node.ts';
import type { OptionShape } from '../schema/optionShape.ts';
import { execute, type Frame, optionShape } from './unit.ts';
import type { ObservedVisit } from '../run/observedVisit.ts';
import { CallPause } from '../run/callJournal.ts';
import { toPlainJson } from '../records/plainJson.ts';
import type { ExecItem } from '../records/recordSchemas.ts';
import { concurrencyOf } from './concurrency.ts';

export const DEFAULT_CONCURRENCY = 16;

/** Calls `exec` once for each item of the array that `prep` returns, one after another, each with its own retries and fallback. */
export class BatchNode<S = unknown, I = unknown, O = unknown, A extends string | void = string | void> extends Node<
  S,
  readonly I[],
  O[],
  A,
  I,
  O
> {
  /** @internal */
  override async [execute](
    items: readonly I[],
    _shared: S,
    frame: Frame,
    visit: ObservedVisit | undefined,
  ): Promise<O[]> {
    checkItems(items, this.name);
    const results: O[] = [];
    for (const [item, input] of items.entries()) {
      frame.scope.throwIfAborted();
      if (takeSaved(results, frame, item)) continue;
      try {
        const result = attemptItem<I, O>(this, { input, frame, visit, item });
        results.push(isPromise(result) ? await result : result);
      } catch (error) {
        if (error instanceof CallPause) error.items = results.map((value, index) => doneItem(this.name, index, value));
        throw error;
      }
    }
    return results;
  }
}

export interface ParallelBatchOptions extends NodeOptions {
  /** The most items at a time; 16 if absent. */
  readonly concurrency?: number;
}

/**
 * Like BatchNode with up to `concurrency` items at a time; the results keep the order of the items. When an item fails
 * finally, no further item is started and the signal of the running ones is aborted.
 */
export class ParallelBatchNode<
  S = unknown,
  I = unknown,
  O = unknown,
  A extends string | void = string | void,
> extends Node<S, readonly I[], O[], A, I, O> {
  readonly concurrency: number;

  /** @throws RangeError if `concurrency` is not a whole number of at least 1, and as Node does. */
  constructor(options: ParallelBatchOptions = {}) {
    super(options);
    this.concurrency = concurrencyOf(this, options, DEFAULT_CONCURRENCY);
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { ...super[optionShape], concurrency: 'number' };
  }

  /** @internal */
  override async [execute](
    items: readonly I[],
    _shared: S,
    frame: Frame,
    visit: ObservedVisit | undefined,
  ): Promise<O[]> {
    const controller = new AbortController();
    const outer = frame.scope.context.signal;
    checkItems(items, this.name);
    const results: O[] = Array.from({ length: items.length });
    const queue = items.entries();
    const forward = (): void => controller.abort(outer.reason);
    outer.addEventListener('abort', forward, { once: true });
    // All lanes share one iterator, so each item is started once, in order.
    const done = new Set<number>();
    const pauses: CallPause[] = [];
    const lane = async (): Promise<void> => {
      for (const [item, input] of queue) {
        controller.signal.throwIfAborted();
        try {
          if (!takeSaved(results, frame, item))
            results[item] = await attemptItem<I, O>(this, { input, frame, visit, item, signal: controller.signal });
          done.add(item);
        } catch (error) {
          if (!(error instanceof CallPause)) throw error;
          pauses.push(error); // an item that waits does not disturb the others
        }
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(this.concurrency, items.length) }, lane));
      const [first, ...others] = pauses.toSorted((a, b) => (a.journal.item ?? 0) - (b.journal.item ?? 0));
      if (first === undefined) return results;
      const ended = [...done].map((item) => doneItem(this.name, item, results[item]));
      first.items = [...ended, ...others.map(({ journal }) => journal.save())];
      throw first;
    } catch (error) {
      controller.abort(error);
      throw error;
    } finally {
      outer.removeEventListener('abort', forward);
    }
  }
}

/** Takes over the result of an item that had ended before a run waited. Returns whether there is one. */
function takeSaved(results: unknown[], frame: Frame, item: number): boolean {
  const saved = frame.execItem(item);
  if (saved?.isDone !== true) return false;
  results[item] = structuredClone(saved.result);
  return true;
}

function doneItem(name: string, item: number, value: unknown): ExecItem {
  const result = value === undefined ? undefined : toPlainJson(value, `The result of exec in ${name}, item ${item}`);
  return { item, isDone: true, ...(result !== undefined && { result }) };
}

/** @throws AppError `bad-input` if `prep` did not return an array. */
export function checkItems(items: unknown, name: string, user = 'exec'): void {
  if (Array.isArray(items)) return;
  throw new AppError('bad-input', `prep of "${name}" must return an array, whose items ${user} gets one by one.`);
}
