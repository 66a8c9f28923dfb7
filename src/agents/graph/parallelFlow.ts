import { AppError, messageOf } from '../../core/errors.ts';
import type { OptionShape } from '../schema/optionShape.ts';
import { concurrencyOf } from './concurrency.ts';
import type { NodeContext } from '../run/execContext.ts';
import type { Pause } from '../run/pause.ts';
import { refuseNesting, type NodeFor } from './flow.ts';
import { walkLanes } from './laneGroup.ts';
import { BaseNode } from './node.ts';
import { execute, type Frame, GraphNode, graphNodes, kind, optionShape } from './unit.ts';

export interface ParallelFlowOptions<S, N extends string> {
  /** The branches by their names: nodes or flows. */
  readonly branches: Readonly<Record<N, NodeFor<S>>>;
  /** The most branches at a time; all if absent. */
  readonly concurrency?: number;
  /** The name in traces and checkpoints; the class's name if absent. */
  readonly name?: string;
}

/**
 * Runs branches beside each other, each with a copy of the shared state. `merge` writes what they found into the shared state, because
 * only the flow knows which of two values of a key is wanted. When a branch fails, the signal of the others is aborted.
 */
export abstract class ParallelFlow<
  S = unknown,
  N extends string = string,
  A extends string | void = string | void,
> extends BaseNode<S, unknown, Readonly<Record<N, S>>, A> {
  readonly concurrency: number;
  readonly #names: readonly N[];
  readonly #branches: readonly GraphNode[];

  /**
   * @throws AppError `bad-input` if there is no branch, one is not a node, or the class has no `merge`; RangeError if `concurrency` is not a
   * whole number of at least 1.
   */
  constructor(options: ParallelFlowOptions<S, N>) {
    super(options);
    const { branches } = options;
    this.concurrency = concurrencyOf(this, options, Number.POSITIVE_INFINITY);
    this.#names = namesOf(branches ?? {});
    if (this.#names.length === 0) throw new AppError('bad-input', `"${this.name}" needs branches: { name: node, … }.`);
    this.#branches = this.#names.map((label, index) => {
      const node: unknown = branches[label];
      if (node instanceof BaseNode) return new Branch(node, label, index);
      throw new AppError('bad-input', `The branch "${label}" of "${this.name}" must be a Node or a Flow.`);
    });
    if (typeof this.merge !== 'function') {
      throw new AppError(
        'bad-input',
        `"${this.name}" needs merge(shared, branches), which joins what the branches did.`,
      );
    }
  }

  /** The state that a branch works on. By default a deep copy of the shared state. */
  branchState(shared: S, branch: N): S | Promise<S>;
  branchState(shared: unknown, branch: string): unknown {
    return copyOf(shared, `${this.name}/${branch}`);
  }

  /** Writes what the branches did, from their states by name, to the shared state, and returns the action. */
  abstract merge(shared: S, branches: Readonly<Record<N, S>>, context: NodeContext): A | Pause | Promise<A | Pause>;

  override post(
    shared: S,
    _prepRes: unknown,
    branches: Readonly<Record<N, S>>,
    context: NodeContext,
  ): A | Pause | Promise<A | Pause> {
    return this.merge(shared, branches, context);
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { branches: 'object', concurrency: 'number', name: 'string' };
  }

  /** @internal */
  override get [kind](): 'node' | 'flow' {
    return 'flow';
  }

  /** @internal */
  get [graphNodes](): { readonly start: undefined; readonly all: readonly GraphNode[] } {
    return { start: undefined, all: this.#branches };
  }

  /** @internal */
  override [execute](prepRes: unknown, shared: S, parent: Frame): Promise<Readonly<Record<N, S>>>;
  override async [execute](_prepRes: unknown, shared: S, parent: Frame): Promise<unknown> {
    refuseNesting(this, parent);
    const nodes = this.#branches;
    const states = this.#names.map((name) => () => this.branchState(shared, name));
    const entryOf = (index: number): GraphNode => {
      const branch = nodes[index];
      if (branch !== undefined) return branch;
      throw new AppError('bad-input', `The checkpoint has more branches than "${this.name}".`);
    };
    const { concurrency } = this;
    const ended = await walkLanes({ flow: this, parent, isItems: false, concurrency, states, entryOf });
    return Object.fromEntries(nodes.map(({ label }, index) => [label, ended[index]]));
  }
}

/** The names of branches, in their order. */
function namesOf<N extends string>(branches: Readonly<Record<N, unknown>>): readonly N[];
function namesOf(branches: object): readonly string[] {
  return Object.keys(branches);
}

/** A branch ends after its node, whatever action that returns. */
class Branch extends GraphNode {
  override exit(): null {
    return null;
  }
}

/** @throws AppError `bad-input` that names the key which cannot be copied. */
function copyOf(shared: unknown, name: string): unknown {
  try {
    return structuredClone(shared);
  } catch (cause) {
    const key =
      typeof shared === 'object' && shared !== null
        ? Object.keys(shared).find((one) => !isCopied(Reflect.get(shared, one)))
        : undefined;
    const what = key === undefined ? 'The shared state' : `shared.${key}`;
    throw new AppError(
      'bad-input',
      `${what} cannot be copied for the branch ${name} (${messageOf(cause)}). Override branchState(shared, branch) to choose what a branch gets.`,
      { cause },
    );
  }
}

function isCopied(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
