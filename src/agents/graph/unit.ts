import type { ExecItem, ResumedParts, ResumePoint } from '../records/recordSchemas.ts';
import type { ExecContext, NodeContext } from '../run/execContext.ts';
import type { RunState } from '../run/runState.ts';
import type { RunScope } from '../run/runScope.ts';
import type { VisitSpan } from '../records/trace.ts';
import { ObservedVisit } from '../run/observedVisit.ts';

/** What a node without an action of its own returns. */
export const DEFAULT_ACTION = 'default';

/** The step between `prep` and `post`: `exec` with its attempts for a node, the walk through its graph for a flow. */
export const execute: unique symbol = Symbol('farwharf.execute');

/** Distinguishes a flow from a node where only `Unit` is known. */
export const kind: unique symbol = Symbol('farwharf.kind');

/** Whether the node has an `answer`, so that it can pause. */
export const canPause: unique symbol = Symbol('farwharf.canPause');

/** The options of the constructor of a class. */
export const optionShape: unique symbol = Symbol('farwharf.optionShape');

/** Whether a class below those of this library has a constructor, which may have options of its own and pass all of them on. */
export function hasOwnOptions(unitClass: object): boolean {
  for (let at: unknown = unitClass; typeof at === 'function'; at = Object.getPrototypeOf(at)) {
    const prototype: unknown = at.prototype;
    if (typeof prototype !== 'object' || prototype === null || Object.hasOwn(prototype, optionShape)) return false;
    if (/\bconstructor\s*\(/.test(String(at))) return true;
  }
  return false;
}

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
  [execute](prepRes: unknown, shared: unknown, frame: Frame, visit: ObservedVisit | undefined): unknown;
  post(shared: unknown, prepRes: unknown, execRes: unknown, context: NodeContext): unknown;
  answer(shared: unknown, input: unknown, context: NodeContext): unknown;
}

/** The runner's view of a flow. */
export interface FlowUnit extends Unit {
  /** All nodes of the graph by their number. */
  readonly [graphNodes]: { readonly all: readonly GraphNode[] };
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
  /** The parts of its flow for a checkpoint in this lane. */
  save(): ResumedParts;
}

/** A walk in progress: through a flow's graph, or (at the root) through the unit that `run` was called on. */
export class Frame {
  readonly scope: RunScope;
  readonly run: RunState;
  /** The flow with this graph; undefined at the root. */
  readonly flow: FlowUnit | undefined;
  readonly parent: Frame | undefined;
  /** The state that the hooks get. */
  shared: unknown;
  /** The current node, its hooks, its visit in an observed run, and the result of its `prep`. */
  node: GraphNode;
  unit: Unit;
  visit: ObservedVisit | undefined;
  prepRes: unknown;
  /** Where to continue in a resumed run; cleared by the walk when it starts. */
  resume: readonly ResumePoint[] | undefined;
  /** The parts of the current node in a resumed run, if it is a flow of parts; cleared by that flow. */
  resumedParts: ResumedParts | undefined;
  /** What the `exec` of the current node had done in a resumed run, if a call in it waited. */
  exec: readonly ExecItem[] | undefined;
  /** What makes this walk one of several of its flow. */
  readonly lane: Lane | undefined;
  /** How many walks are around it. */
  readonly depth: number;
  /** The numbers of the parallel lanes around this walk, from the outermost inwards; undefined if it runs beside nothing. */
  readonly order: readonly number[] | undefined;
  /** The context of hooks in an unobserved run. */
  readonly #context: ExecContext;
  /** Visits by the node's number; created on first use. */
  #visits: number[] | undefined;
  #path: string | undefined;

  constructor(run: RunState, scope: RunScope, node: GraphNode, flow?: FlowUnit, parent?: Frame, lane?: Lane) {
    this.run = run;
    this.scope = scope;
    this.#context = scope.context;
    this.node = node;
    this.unit = node.unit;
    this.flow = flow;
    this.parent = parent;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
    this.lane = lane;
    const outer = parent?.order;
    this.order = lane?.isParallel === true ? [...(outer ?? []), lane.index] : outer;
  }

  /** The names from the outermost flow inwards; `#2` marks the second visit of an enclosing flow, `[2]` the third item of a batch. Empty at the root. */
  get path(): string {
    if (this.#path !== undefined) return this.#path;
    // Computed from the outermost one without a path, because recursion through thousands of nested flows would overflow the stack.
    const unnamed: Frame[] = [];
    for (let { parent } = this; parent !== undefined && parent.#path === undefined; { parent } = parent) {
      unnamed.push(parent);
    }
    for (const frame of unnamed.reverse()) frame.#path = frame.#pathInParent();
    this.#path = this.#pathInParent();
    return this.#path;
  }

  #pathInParent(): string {
    const { parent } = this;
    if (parent === undefined) return '';
    const visits = parent.visitsOf(parent.node);
    const item = this.lane?.isItem === true ? `[${this.lane.index}]` : '';
    return parent.pathOf(parent.node) + (visits > 1 ? `#${visits}` : '') + item;
  }

  pathOf(node: GraphNode): string {
    return node.pathIn(this.path);
  }

  /** Begins a visit of the current node. */
  begin(): void {
    const { node } = this;
    this.unit = node.unit;
    if (!this.run.isObserved) return;
    this.visit = new ObservedVisit(this, this.pathOf(node), this.#arrive(node));
    if (this.visit.span !== undefined) this.unit = inSpan(node.unit, this.visit.span);
  }

  /** What an item of the current node had done in a resumed run. */
  execItem(item: number): ExecItem | undefined {
    return this.exec?.find((one) => one.item === item);
  }

  /** The context of the hooks of the current node. */
  get context(): ExecContext {
    return this.visit === undefined ? this.#context : this.visit.context;
  }

  /** Counts a visit in observed runs, and returns its number. */
  #arrive(node: GraphNode): number {
    const visits = (this.#visits?.[node.index] ?? 0) + 1;
    this.restoreVisits(node, visits);
    return visits;
  }

  /** How often a node was visited in this walk; 1 if visits are not counted. */
  visitsOf(node: GraphNode): number {
    return this.#visits?.[node.index] ?? 1;
  }

  /** The visits of each node by its label, for a checkpoint. */
  get visits(): Record<string, number> {
    const nodes = this.flow?.[graphNodes].all ?? [this.node];
    const visited = nodes.filter(({ index }) => (this.#visits?.[index] ?? 0) > 0);
    return Object.fromEntries(visited.map((node) => [node.label, this.visitsOf(node)]));
  }

  restoreVisits(node: GraphNode, visits: number): void {
    this.#visits ??= [];
    this.#visits[node.index] = visits;
  }
}

/** The unit with hooks that run in the span of its visit. */
function inSpan(unit: Unit, span: VisitSpan): Unit {
  return {
    name: unit.name,
    [kind]: unit[kind],
    [canPause]: unit[canPause],
    prep: (...call) => span.inSpan(() => unit.prep(...call)),
    [execute]: (...call) => span.inSpan(() => unit[execute](...call)),
    post: (...call) => span.inSpan(() => unit.post(...call)),
    answer: (...call) => span.inSpan(() => unit.answer(...call)),
  };
}
