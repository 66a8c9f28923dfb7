import { AppError } from '../../core/errors.ts';
import { BaseNode } from './node.ts';
import { execute, Frame, kind, GraphNode, graphNodes } from './unit.ts';
import { DEFAULT_ACTION, walk } from './walk.ts';
import type { NodeContext } from '../run/context.ts';
import type { Pause } from '../run/pause.ts';
import { writeWarning } from '../run/warning.ts';

/** The nodes that a flow with the shared state `S` accepts; any node if the flow does not declare its shared state. */
export type NodeFor<S> = unknown extends S ? BaseNode<never> : BaseNode<S>;

/**
 * The actions that a node's `post` can return, as arguments of `connect`: returning nothing means `default`. A node that can pause also
 * has those of its `answer`.
 */
export type ActionOf<N extends { post(...args: never): unknown; answer?(...args: never): unknown }> =
  | NamedAction<Exclude<Awaited<ReturnType<N['post']>>, Pause>>
  | (Extract<Awaited<ReturnType<N['post']>>, Pause> extends never ? never : AnswerOf<N>);
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

/** A directed graph of nodes. It is a node itself, so flows nest. Runs do not change the graph. */
export class Flow<S = unknown, P = unknown, A extends string | void = string | void> extends BaseNode<
  S,
  P,
  string | void,
  A
> {
  readonly #graphNodes = new Map<object, GraphNode>();
  #start: GraphNode | undefined;

  constructor(options: FlowOptions<S> = {}) {
    if (options instanceof BaseNode) {
      throw new AppError('bad-input', 'A flow takes its first node as an option: new Flow({ start: node }).');
    }
    super(options);
    if (options.start !== undefined) this.#start = this.#graphNodeOf(options.start, 'The start');
  }

  get start(): NodeFor<S> | undefined {
    const node = this.#start?.unit;
    return isNodeFor<S>(node) ? node : undefined;
  }

  /** @throws AppError `bad-input` if it is not a node. */
  set start(node: NodeFor<S> | undefined) {
    this.#start = node === undefined ? undefined : this.#graphNodeOf(node, 'The start');
  }

  /**
   * When `src` returns `action`, the flow continues with `dst`, or ends without a warning if `dst` is null.
   * Connecting the same pair again replaces the connection and warns.
   *
   * @throws AppError `bad-input` if `src` or `dst` is not a node, or the action is not a string.
   */
  connect<N extends NodeFor<S>>(src: N, dst: NodeFor<S> | null, ...rest: ActionArgument<ActionOf<N>>): this {
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
  getNextNode(node: NodeFor<S>, action?: string | null | void): NodeFor<S> | null | undefined {
    const exit = this.#graphNodes.get(node)?.exit(action || DEFAULT_ACTION);
    if (exit === null) return null;
    return isNodeFor<S>(exit?.unit) ? exit.unit : undefined;
  }

  /** Returns the action of the last node that ran, which becomes the action of a nested flow. */
  override post(shared: S, prepRes: P, execRes: string | void, context: NodeContext): A | Pause | Promise<A | Pause>;
  override post(_shared: S, _prepRes: P, execRes: unknown): unknown {
    return execRes;
  }

  /** @internal */
  override get [kind](): 'node' | 'flow' {
    return 'flow';
  }

  /** @internal */
  override [execute](prepRes: P, shared: S, parent: Frame): Promise<string | void>;
  override [execute](_prepRes: P, shared: S, parent: Frame): Promise<unknown> {
    for (let at: Frame | undefined = parent; at !== undefined; at = at.parent) {
      if (at.flow === this) {
        throw new AppError('bad-input', `The flow "${this.name}" contains itself: ${parent.path}/${this.name}.`);
      }
    }
    if (this.#start === undefined) {
      throw new AppError(
        'bad-input',
        `The flow "${this.name}" has no start. Set flow.start, or new Flow({ start: node }).`,
      );
    }
    const frame = new Frame(parent.run, parent.scope, this.#start, this, parent);
    const entry = parent.resume === undefined ? this.#start : this.#resume(frame, parent);
    return walk(entry, shared, frame);
  }

  /** Takes over the inner part of the parent's resume points, and returns the node of the checkpoint. */
  #resume(frame: Frame, parent: Frame): GraphNode {
    frame.resume = parent.resume;
    parent.resume = undefined;
    const [point, ...inner] = frame.resume ?? [];
    const isWaiting = parent.run.options.resume?.pause !== undefined;
    const byLabel = new Map([...this.#graphNodes.values()].map((graphNode) => [graphNode.label, graphNode]));
    for (const [label, visits] of Object.entries(point?.visits ?? {})) {
      const graphNode = byLabel.get(label);
      // The walk enters a flow in progress, or a node that waits, once more and counts the same visit again.
      const isReentered = label === point?.node && (inner.length > 0 || isWaiting);
      if (graphNode !== undefined) frame.restoreVisits(graphNode, isReentered ? visits - 1 : visits);
    }
    const graphNode = byLabel.get(point?.node ?? '');
    if (graphNode !== undefined) return graphNode;
    throw new AppError(
      'bad-input',
      `The checkpoint is at "${point?.node}", but the flow "${this.name}" has no such node. ` +
        'Give a renamed node its old name, or start the run from the beginning.',
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
    const known = this.#graphNodes.get(node);
    if (known !== undefined) return known;
    const namesakes = [...this.#graphNodes.values()].filter(({ unit }) => unit.name === node.name).length;
    const label = namesakes === 0 ? node.name : `${node.name}~${namesakes + 1}`;
    const graphNode = new GraphNode(node, label, this.#graphNodes.size);
    this.#graphNodes.set(node, graphNode);
    return graphNode;
  }
}

// Only nodes that the compiler has checked against the flow's shared state get into its graph.
function isNodeFor<S>(unit: unknown): unit is NodeFor<S> {
  return unit instanceof BaseNode;
}
