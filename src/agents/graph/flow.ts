import { AppError } from '../../core/errors.ts';
import { BaseNode } from './node.ts';
import { checkOptions, kindOf, type OptionShape } from '../schema/optionShape.ts';
import { resumeIn } from './resumePoints.ts';
import {
  DEFAULT_ACTION,
  execute,
  Frame,
  kind,
  GraphNode,
  graphNodes,
  hasOwnOptions,
  optionShape,
  startNode,
  type Unit,
} from './unit.ts';
import { walk } from './walk.ts';
import type { NodeContext } from '../run/execContext.ts';
import type { Pause } from '../run/pause.ts';
import { writeWarning } from '../run/runState.ts';

/** The nodes that a flow with the shared state `S` accepts; any node if the flow does not declare its shared state. */
export type NodeFor<S> = unknown extends S ? BaseNode<never> : BaseNode<S>;

/**
 * The actions that a node's `post` can return, or `merge` of a ParallelFlow, as arguments of `connect`: returning nothing means `default`.
 * A node that can pause also has those of its `answer`.
 */
export type ActionOf<N extends { post(...args: never): unknown; answer?(...args: never): unknown }> =
  | NamedAction<Exclude<ReturnedBy<N>, Pause>>
  | (Extract<ReturnedBy<N>, Pause> extends never ? never : AnswerOf<N>);
type ReturnedBy<N extends { post(...args: never): unknown }> = N extends { merge(...args: never): infer R }
  ? Awaited<R>
  : Awaited<ReturnType<N['post']>>;
type AnswerOf<N> = N extends { answer(...args: never): infer R } ? NamedAction<Exclude<Awaited<R>, Pause>> : never;
type NamedAction<R> = R extends string ? (R extends '' ? 'default' : R) : 'default';

/** The action may be omitted only if the node can return `default`. */
type ActionArgument<A> = 'default' extends A ? [action?: A] : [action: A];

export interface FlowOptions<S> {
  /** The first node; can be set later. */
  readonly start?: BaseNode<S>;
  /** The name in traces and checkpoints; the class's name if absent. */
  readonly name?: string;
  /** Not an option: the compiler refuses a node in place of the options. */
  readonly exec?: never;
}

// Down to this depth, each flow is compared with all flows around it; below, only one in as many, because comparing all would take a time
// that grows with the square of the depth. A flow that contains itself comes up again and again, so it is still found.
const EXACT_DEPTH = 256;

/**
 * A directed graph of nodes. It is a node itself, so flows nest. Runs do not change the graph.
 *
 * Its nodes work on the shared state, and its `post` gets the action of the last of them; in a BatchFlow they work on a state `T`
 * for each item, and `post` gets `E`, the array of those.
 */
export class Flow<
  S = unknown,
  P = unknown,
  A extends string | void = string | void,
  T = S,
  E = string | void,
> extends BaseNode<S, P, E, A> {
  readonly #graphNodes = new Map<object, GraphNode>();
  /** How many nodes have each name. */
  readonly #namesakes = new Map<string, number>();
  #start: GraphNode | undefined;

  /** @throws TypeError for an option of another type. */
  constructor(options: FlowOptions<S> = {}) {
    checkFlowOptions(new.target, options);
    super(options);
    if (options.start !== undefined) this.#start = this.#graphNodeOf(options.start, 'The start');
  }

  get start(): NodeFor<T> | undefined {
    const node = this.#start?.unit;
    return isNodeFor<T>(node) ? node : undefined;
  }

  /** @throws AppError `bad-input` if it is not a node. */
  set start(node: NodeFor<T> | undefined) {
    this.#start = node === undefined ? undefined : this.#graphNodeOf(node, 'The start');
  }

  /**
   * When `src` returns `action`, the flow continues with `dst`, or ends without a warning if `dst` is null.
   * Connecting the same pair again replaces the connection and warns.
   *
   * @throws AppError `bad-input` if `src` or `dst` is not a node, or the action is not a string.
   */
  connect<N extends NodeFor<T>>(src: N, dst: NodeFor<T> | null, ...rest: ActionArgument<ActionOf<N>>): this {
    const action: unknown = rest[0] ?? DEFAULT_ACTION;
    if (typeof action !== 'string') {
      throw new AppError(
        'bad-input',
        `connect of "${this.name}" got an action of type ${typeof action}; it must be a string.`,
      );
    }
    const from = this.#graphNodeOf(src, 'The source of a connection');
    const to = dst === null ? null : this.#graphNodeOf(dst, 'The destination of a connection');
    const name = action === '' ? DEFAULT_ACTION : action;
    const old = from.exit(name);
    if (old !== undefined) {
      const [before, after] = [old, to].map((graphNode) => (graphNode === null ? 'the end' : `"${graphNode.label}"`));
      writeWarning(`connect of "${this.name}" replaced "${from.label}" - "${name}" -> ${before} by ${after}.`);
    }
    from.connect(name, to);
    return this;
  }

  /** The node that follows `node` after `action`: null for an explicit end, undefined if nothing is connected. */
  getNextNode(node: NodeFor<T>, action?: string | null | void): NodeFor<T> | null | undefined {
    const exit = this.#graphNodes.get(node)?.exit(action || DEFAULT_ACTION);
    if (exit === null) return null;
    return isNodeFor<T>(exit?.unit) ? exit.unit : undefined;
  }

  /** Returns the action of the last node that ran, which becomes the action of a nested flow. */
  override post(shared: S, prepRes: P, execRes: E, context: NodeContext): A | Pause | Promise<A | Pause>;
  override post(_shared: S, _prepRes: P, execRes: unknown): unknown {
    return execRes;
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { start: 'any', name: 'string' };
  }

  /** @internal */
  override get [kind](): 'node' | 'flow' {
    return 'flow';
  }

  /** @internal */
  override [execute](prepRes: P, shared: S, parent: Frame): Promise<E>;
  override [execute](_prepRes: P, shared: S, parent: Frame): Promise<unknown> {
    const start = this[startNode](parent);
    const frame = new Frame(parent.run, parent.scope, start, this, parent);
    const entry = parent.resume === undefined ? start : resumeIn(frame, parent, this);
    return walk(entry, shared, frame);
  }

  /** @internal */
  [startNode](parent: Frame): GraphNode {
    refuseNesting(this, parent);
    if (this.#start !== undefined) return this.#start;
    throw new AppError(
      'bad-input',
      `The flow "${this.name}" has no start. Set flow.start, or new Flow({ start: node }).`,
    );
  }

  /** @internal The current graph: the first node, and all nodes in the order in which the flow first used them. */
  get [graphNodes](): { readonly start: GraphNode | undefined; readonly all: readonly GraphNode[] } {
    return { start: this.#start, all: [...this.#graphNodes.values()] };
  }

  #graphNodeOf(node: unknown, role: string): GraphNode {
    if (!(node instanceof BaseNode)) {
      const what = node === null ? 'null' : typeof node;
      throw new AppError('bad-input', `${role} in "${this.name}" must be a Node or a Flow, and is ${what}.`);
    }
    const existing = this.#graphNodes.get(node);
    if (existing !== undefined) return existing;
    const { name } = node;
    const namesakes = this.#namesakes.get(name) ?? 0;
    this.#namesakes.set(name, namesakes + 1);
    const label = namesakes === 0 ? name : `${name}~${namesakes + 1}`;
    const graphNode = new GraphNode(node, label, this.#graphNodes.size);
    this.#graphNodes.set(node, graphNode);
    return graphNode;
  }
}

/** @throws TypeError for an option that is unknown or of another type, or a node in place of the options. */
export function checkFlowOptions(
  flowClass: { readonly name: string; readonly prototype: { readonly [optionShape]: OptionShape } },
  options: { readonly start?: unknown },
): void {
  const call = `new ${flowClass.name || 'Flow'}`;
  if (options instanceof BaseNode) {
    throw new TypeError('A flow takes its first node as an option: new Flow({ start: node }).');
  }
  checkOptions(call, options, flowClass.prototype[optionShape], { hasOthers: () => hasOwnOptions(flowClass) });
  const { start } = options;
  if (start === undefined || start instanceof BaseNode) return;
  throw new TypeError(`The option start of ${call} must be a Node or a Flow, not ${kindOf(start)}.`);
}

/** @throws AppError `bad-input` if a flow contains itself. */
export function refuseNesting(flow: Unit, parent: Frame): void {
  if (parent.depth > EXACT_DEPTH && parent.depth % EXACT_DEPTH !== 0) return;
  for (let at: Frame | undefined = parent; at !== undefined; at = at.parent) {
    if (at.flow === flow) {
      throw new AppError('bad-input', `The flow "${flow.name}" contains itself: ${parent.path}/${flow.name}.`);
    }
  }
}

// Only nodes that the compiler has checked against the flow's shared state get into its graph.
function isNodeFor<S>(unit: unknown): unit is NodeFor<S> {
  return unit instanceof BaseNode;
}
