import type { NodeContext } from '../run/execContext.ts';
import type { Pause } from '../run/pause.ts';
import { concurrencyOf } from './concurrency.ts';
import { checkItems, DEFAULT_CONCURRENCY } from './batch.ts';
import { checkFlowOptions, Flow, type FlowOptions } from './flow.ts';
import { walkLanes } from './laneGroup.ts';
import type { OptionShape } from '../schema/optionShape.ts';
import { execute, type Frame, optionShape, startNode } from './unit.ts';

const laneCount: unique symbol = Symbol('farwharf.laneCount');

/** The state of an item unless `itemState` is overridden. */
type ItemState<S, I> = unknown extends S ? unknown : S & { item: I };

/**
 * A flow that runs once for each item of the array that `prep` returns, one after another. Each run has the state that `itemState` returns;
 * `post` gets the array of those states.
 */
export class BatchFlow<
  S = unknown,
  I = unknown,
  T = ItemState<S, I>,
  A extends string | void = string | void,
> extends Flow<S, readonly I[], A, T, T[]> {
  constructor(options: FlowOptions<T> = {}) {
    checkFlowOptions(new.target, options);
    const { start, ...batchOptions } = options;
    super(batchOptions);
    this.start = start;
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { start: 'any', name: 'string' };
  }

  /** The state of the run for one item. By default `{ ...shared, item }`. */
  itemState(shared: S, item: I): T | Promise<T>;
  itemState(shared: S, item: I): unknown {
    return { ...shared, item };
  }

  /** Gets the states of all items, in their order, after their runs. Returns no action by default. */
  override post(shared: S, items: readonly I[], states: T[], context: NodeContext): A | Pause | Promise<A | Pause>;
  override post(): unknown {
    return undefined;
  }

  /** @internal */
  override [execute](items: readonly I[], shared: S, parent: Frame): Promise<T[]>;
  override [execute](items: readonly I[], shared: S, parent: Frame): Promise<unknown[]> {
    return this.#walk(items, shared, parent);
  }

  /** @internal The most items at a time; undefined for one after another. */
  get [laneCount](): number | undefined {
    return undefined;
  }

  async #walk(items: readonly I[], shared: S, parent: Frame): Promise<unknown[]> {
    checkItems(items, this.name, 'the flow');
    const start = this[startNode](parent);
    // Without items, no node counts a visit or yields to the event loop, so a loop around this flow would never end.
    if (items.length === 0) await parent.run.enter(this.name);
    const states = items.map((item) => () => this.itemState(shared, item));
    const concurrency = this[laneCount];
    return walkLanes({ flow: this, parent, isItems: true, concurrency, states, entryOf: () => start });
  }
}

export interface ParallelBatchFlowOptions<T> extends FlowOptions<T> {
  /** The most items at a time; 16 if absent. */
  readonly concurrency?: number;
}

/**
 * Like BatchFlow with up to `concurrency` items at a time. When an item fails, no further item is started and the signal of the running ones
 * is aborted.
 */
export class ParallelBatchFlow<
  S = unknown,
  I = unknown,
  T = ItemState<S, I>,
  A extends string | void = string | void,
> extends BatchFlow<S, I, T, A> {
  readonly concurrency: number;

  /** @throws RangeError if `concurrency` is not a whole number of at least 1. */
  constructor(options: ParallelBatchFlowOptions<T> = {}) {
    super(options);
    this.concurrency = concurrencyOf(this, options, DEFAULT_CONCURRENCY);
  }

  /** @internal */
  override get [laneCount](): number {
    return this.concurrency;
  }
  /** @internal */
  override get [optionShape](): OptionShape {
    return { ...super[optionShape], concurrency: 'number' };
  }
}
