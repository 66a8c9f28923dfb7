import type { ResumedParts, ResumePoint } from '../records/schemas.ts';
import type { ExecContext, NodeContext } from '../run/context.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import type { Visit } from '../run/visit.ts';

/** The step between `prep` and `post`: `exec` with its attempts for a node, the walk through its graph for a flow. */
export const execute: unique symbol = Symbol('farwharf.execute');

/** Distinguishes a flow from a node where only `Unit` is known. */
export const kind: unique symbol = Symbol('farwharf.kind');

/** Whether the node has an `answer`, so that it can pause. */
export const canPause: unique symbol = Symbol('farwharf.canPause');

/** The nodes in the graph of a flow. In the symbol registry, because a file may bring its own copy of this library. */
export const graphNodes: unique symbol = Symbol.for('farwharf.graphNodes.1');

/** The first node of a flow, for a walk below a frame. */
export const startNode: unique symbol = Symbol('farwharf.startNode');

/** The runner's view of a node or a flow. */
export interface Unit {
  readonly name: string;
  readonly [kind]: 'node' | 'flow';
  readonly [canPause]: boolean;
  prep(shared: unknown, context: NodeContext): unknown;
  [execute](prepRes: unknown, shared: unknown, frame: Frame, visit: Visit | undefined): unknown;
  post(shared: unknown, prepRes: unknown, execRes: unknown, context: NodeContext): unknown;
  answer(shared: unknown, input: unknown, context: NodeContext): unknown;
}

/** A node in the graph of one flow, with its connections there. */
export class GraphNode {
  readonly unit: Unit;
  /** Unique in the flow: the name, with `~2` for the second node of that name. */
  readonly label: string;
  readonly isFlow: boolean;
  /** Its number in the flow, from 0. */
  readonly index: number;
  #exits: Map<string, GraphNode | null> | undefined;
  // The last exit. A loop usually leaves a node the same way, and this saves the hash lookup.
  #lastAction: string | undefined;
  #lastExit: GraphNode | null | undefined;

  // The last path, which is usually needed again for the same flow at the same position.
  #prefix: string | undefined;
  #path = '';

  constructor(unit: Unit, label: string, index: number) {
    this.unit = unit;
    this.index = index;
    this.label = label;
    this.isFlow = unit[kind] === 'flow';
  }

  /** The path of this node in a flow with that path. */
  pathIn(prefix: string): string {
    if (prefix !== this.#prefix) {
      this.#prefix = prefix;
      this.#path = prefix === '' ? this.label : `${prefix}/${this.label}`;
    }
    return this.#path;
  }

  connect(action: string, exit: GraphNode | null): void {
    this.#exits ??= new Map();
    this.#exits.set(action, exit);
    this.#lastAction = undefined;
  }

  get actions(): readonly string[] {
    return [...(this.#exits?.keys() ?? [])];
  }

  /** The next node; null for an explicit end, undefined if nothing is connected. */
  exit(action: string): GraphNode | null | undefined {
    if (action === this.#lastAction) return this.#lastExit;
    this.#lastExit = this.#exits?.get(action);
    this.#lastAction = action;
    return this.#lastExit;
  }
}

/** One of several walks of a flow, each with a state of its own: an item of a batch, or a branch. */
export interface Lane {
  readonly index: number;
  /** Whether paths have its number. A branch has a name instead, which is that of its node. */
  readonly isItem: boolean;
  /** Whether it runs beside others. */
  readonly isParallel: boolean;
  /** The context of hooks in an unobserved run, with the signal of the lane. */
  readonly context: ExecContext;
  /** The parts of its flow for a checkpoint in this lane. */
  save(): ResumedParts;
}

/** A walk in progress: through a flow's graph, or (at the root) through the unit that `run` was called on. */
export class Frame {
  readonly scope: Scope;
  readonly run: Run;
  /** The flow with this graph; undefined at the root. */
  readonly flow: Unit | undefined;
  readonly parent: Frame | undefined;
  /** The current node, and the result of its `prep`. */
  node: GraphNode;
  prepRes: unknown;
  /** Where to continue in a resumed run; cleared by the walk when it starts. */
  resume: readonly ResumePoint[] | undefined;
  /** The parts of the current node in a resumed run, if it is a flow of parts; cleared by that flow. */
  resumedParts: ResumedParts | undefined;
  /** What makes this walk one of several of its flow. */
  readonly lane: Lane | undefined;
  /** The numbers of the parallel lanes around this walk, from the outermost inwards; undefined if it runs beside nothing. */
  readonly order: readonly number[] | undefined;
  /** The context of hooks in an unobserved run. */
  readonly context: ExecContext;
  /** Visits by the node's number, and the visited nodes; created on first use. */
  #visits: number[] | undefined;
  #visited: GraphNode[] | undefined;
  #path: string | undefined;

  constructor(run: Run, scope: Scope, node: GraphNode, flow?: Unit, parent?: Frame, lane?: Lane) {
    this.run = run;
    this.scope = scope;
    this.node = node;
    this.flow = flow;
    this.parent = parent;
    this.lane = lane;
    const outer = parent?.order;
    this.order = lane?.isParallel === true ? [...(outer ?? []), lane.index] : outer;
    this.context = lane?.context ?? parent?.context ?? run.context;
  }

  /** The names from the outermost flow inwards; `#2` marks the second visit of an enclosing flow, `[2]` the third item of a batch. Empty at the root. */
  get path(): string {
    if (this.#path === undefined) {
      const { parent } = this;
      const visits = parent?.visitsOf(parent.node) ?? 1;
      const item = this.lane?.isItem === true ? `[${this.lane.index}]` : '';
      this.#path = parent === undefined ? '' : parent.pathOf(parent.node) + (visits > 1 ? `#${visits}` : '') + item;
    }
    return this.#path;
  }

  pathOf(node: GraphNode): string {
    return node.pathIn(this.path);
  }

  /** @throws the reason of the run's signal, or of the lane's, once it is aborted. */
  throwIfAborted(): void {
    this.run.throwIfAborted();
    if (this.order !== undefined) this.context.signal.throwIfAborted();
  }

  /** Counts a visit in observed runs, and returns its number. */
  arrive(node: GraphNode): number {
    this.#visits ??= [];
    this.#visited ??= [];
    const visits = (this.#visits[node.index] ?? 0) + 1;
    if (visits === 1) this.#visited.push(node);
    this.#visits[node.index] = visits;
    return visits;
  }

  /** How often a node was visited in this walk; 1 if visits are not counted. */
  visitsOf(node: GraphNode): number {
    return this.#visits?.[node.index] ?? 1;
  }

  /** The visits of each node by its label, for a checkpoint. */
  get visits(): Record<string, number> {
    return Object.fromEntries((this.#visited ?? []).map((node) => [node.label, this.visitsOf(node)]));
  }

  restoreVisits(node: GraphNode, visits: number): void {
    this.#visits ??= [];
    this.#visited ??= [];
    if (visits > 0) this.#visited.push(node);
    this.#visits[node.index] = visits;
  }
}
