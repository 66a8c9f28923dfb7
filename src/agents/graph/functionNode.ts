import { checkOptions, type OptionShape } from '../schema/optionShape.ts';
import type { ExecContext, NodeContext } from '../run/execContext.ts';
import type { Pause } from '../run/pause.ts';
import { type ParallelBatchOptions, ParallelBatchNode } from './batch.ts';
import { Node, type NodeOptions } from './node.ts';

/** What `exec` and `execFallback` get and return: `I` and `O`; `P` and `E` are those of the whole node. */
interface Hooks<S, P, E, A, I, O> {
  readonly prep?: (shared: S, context: NodeContext) => P | Promise<P>;
  readonly exec?: (prepRes: I, context: ExecContext) => O | Promise<O>;
  readonly execFallback?: (prepRes: I, error: unknown, context: ExecContext) => O | Promise<O>;
  readonly post?: (shared: S, prepRes: P, execRes: E, context: NodeContext) => A | Pause | Promise<A | Pause>;
  readonly answer?: (shared: S, input: unknown, context: NodeContext) => A | Pause | Promise<A | Pause>;
}

export interface NodeDefinition<S, P, E, A extends string | void> extends NodeOptions, Hooks<S, P, E, A, P, E> {}

export interface BatchNodeDefinition<S, I, O, A extends string | void>
  extends ParallelBatchOptions,
    Hooks<S, readonly I[], O[], A, I, O> {}

const HOOKS = ['prep', 'exec', 'execFallback', 'post', 'answer'] as const;

const SHAPE: OptionShape = {
  name: 'string',
  maxRetries: 'any',
  wait: 'number',
  timeout: 'number',
  ...Object.fromEntries(HOOKS.map((hook) => [hook, 'function'] as const)),
};

/**
 * A node of functions: the same as a class with these hooks. The types of later hooks follow from those of earlier ones, so write them in
 * their order, and the type of the shared state in the first.
 *
 * @throws TypeError for an unknown option or one of another type, RangeError for a number out of range.
 */
export function node<S = unknown, P = undefined, E = undefined, A extends string | void = void>(
  definition: NodeDefinition<S, P, E, A>,
): Node<S, P, E, A> {
  checkOptions('node', definition, SHAPE);
  return withHooks(new Node<S, P, E, A>(optionsOf(definition)), definition);
}

/** A ParallelBatchNode of functions: `exec` gets one item of what `prep` returned, and `post` the results in order. Throws as `node` does. */
export function batchNode<S = unknown, I = undefined, O = undefined, A extends string | void = void>(
  definition: BatchNodeDefinition<S, I, O, A>,
): ParallelBatchNode<S, I, O, A> {
  checkOptions('batchNode', definition, { ...SHAPE, concurrency: 'number' });
  return withHooks(new ParallelBatchNode<S, I, O, A>(optionsOf(definition)), definition);
}

/** The options of a definition without its hooks. */
function optionsOf<T extends object>(definition: T): Omit<T, (typeof HOOKS)[number]> {
  const options = { ...definition };
  for (const hook of HOOKS) Reflect.deleteProperty(options, hook);
  return options;
}

function withHooks<N extends object>(made: N, definition: Partial<Record<(typeof HOOKS)[number], unknown>>): N {
  for (const hook of HOOKS) if (definition[hook] !== undefined) Reflect.set(made, hook, definition[hook]);
  return made;
}
