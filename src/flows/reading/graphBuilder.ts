import {
  type FlowEdge,
  type FlowGraph,
  type FlowNode,
  NODE_TYPES,
  type NodeActions,
  type ReplacedEdge,
  type ReturnedAction,
  type SourceRange,
  type Unread,
} from '../graph/graph.ts';
import type { Evaluator } from '../interpreter/evaluator.ts';
import { type HookFacts, hookOf, hookRange, lastHookOf, readHooks } from './hooks.ts';
import { flowName, FreeIds, identify, labelsOf, sourceName, runtimeName } from './unitNames.ts';
import { findMethod, libraryOf } from '../interpreter/members.ts';
import { endOf, startOf, summaryAbove } from '../syntax/sourceFile.ts';
import type { Connection, FlowDraft, Instance } from '../interpreter/values.ts';
import { ReadingLimitError } from '../interpreter/readingLimit.ts';

// The depth of nested flows; see the reading limit `level`.
const MAX_DEPTH = 50;

type FlowInstance = Instance & { readonly flow: FlowDraft };

/** A flow with its instance in the source, for edits. */
export interface ReadFlow {
  readonly graph: FlowGraph;
  readonly instance: FlowInstance;
  readonly nodes: ReadonlyMap<string, Instance>;
  readonly connections: ReadonlyMap<string, Connection>;
}

function isFlow(instance: Instance | null): instance is FlowInstance {
  return instance?.flow !== undefined;
}

/** Builds the graphs of a file's flows and of the flows nested in them. */
export class GraphBuilder {
  readonly #evaluator: Evaluator;
  #depth = 0;
  readonly #actions = new Map<Instance, NodeActions | 'in progress'>();

  constructor(evaluator: Evaluator) {
    this.#evaluator = evaluator;
  }

  build(file: string): ReadFlow[] {
    const all = this.#evaluator.findings.instances.filter(isFlow);
    const isHere = (flow: FlowInstance): boolean =>
      flow.file.path === file || [...flow.flow.connections].some((connection) => connection.file.path === file);
    const here = all.filter(isHere).sort((a, b) => startOf(a.creation) - startOf(b.creation));
    const flows = new Set(here);
    // The set grows during the loop: flows nested in nested flows are added.
    for (const flow of flows) for (const node of flow.flow.nodes) if (isFlow(node)) flows.add(node);
    const ids = identify(flows, (flow) => flowName(flow, file));
    return [...flows].map((flow) => this.#readFlow(flow, ids));
  }

  #readFlow(instance: FlowInstance, flowIds: ReadonlyMap<Instance, string>): ReadFlow {
    const { flow: draft, file, creation } = instance;
    const ids = new Map<Instance, string>();
    const labels = draft.branches.size > 0 ? draft.branches : labelsOf(draft.nodes);
    const allIds = identify(draft.nodes, (node) => sourceName(node, instance));
    for (const [node, id] of allIds) {
      const label = labels.get(node) ?? '';
      if (ids.size === 0 || this.#takeText(id, label)) ids.set(node, id);
    }
    const free = new FreeIds();
    const connections = new Map<string, Connection>();
    const edges = [...draft.connections].flatMap((connection): FlowEdge[] => {
      const { source, target, action, actionOrigin } = connection;
      const [from, to] = [ids.get(source), target === null ? null : ids.get(target)];
      if (from === undefined || to === undefined || !this.#takeText(from, from, to ?? '', action, action)) return [];
      const id = free.take(`${from}:${action}`);
      connections.set(id, connection);
      const actionRange = actionOrigin?.file.range(actionOrigin.node);
      return [{ id, source: from, target: to, action, range: callRange(connection), actionRange }];
    });
    const nodes = [...ids].map(([node, id]): FlowNode => {
      const flow = isFlow(node) ? flowIds.get(node) : undefined;
      const read = { ...this.#readNode(node), id, label: labels.get(node) ?? '', flow };
      // A branch ends after its node, whatever action that returns.
      return draft.branches.has(node) ? { ...read, actions: { known: [], unknown: undefined } } : read;
    });
    const start = draft.start === undefined ? undefined : ids.get(draft.start);
    const graph: FlowGraph = {
      id: flowIds.get(instance) ?? '',
      label: runtimeName(instance).text,
      className: instance.class.name || 'Flow',
      summary: summaryAbove(file, startOf(creation)) ?? this.#classSummary(instance),
      range: file.rangeOf(startOf(creation), chainEnd(instance)),
      start,
      ...(draft.branches.size > 0 && { isBranches: true }),
      nodes,
      edges,
      replaced: draft.replaced.flatMap((connection) => replacedEdge(connection, draft, ids)),
      runs: draft.runs.map(({ origin, keys, values }) => ({ range: origin.file.range(origin.node), keys, values })),
      unread: [...draft.unread, ...[instance, ...draft.nodes].flatMap(unknownName)],
    };
    return { graph, instance, nodes: new Map([...ids].map(([node, id]) => [id, node])), connections };
  }

  #readNode(node: Instance): Omit<FlowNode, 'id' | 'label' | 'flow'> {
    const { class: called, file, creation } = node;
    const { actions, ...keys } = readNodeFacts(this.#evaluator, node, this.#innerActions(node));
    return {
      className: called.name || 'Node',
      type: NODE_TYPES[libraryOf(called) ?? ''] ?? 'unknown',
      summary: summaryAbove(file, startOf(creation)) ?? this.#classSummary(node),
      ranges: {
        instance: file.range(creation),
        class: called.type === 'class' ? called.scope.file.range(called.node) : undefined,
        prep: this.#hook(node, 'prep'),
        exec: this.#hook(node, 'exec'),
        post: this.#hook(node, lastHookOf(node)),
      },
      actions,
      ...keys,
    };
  }

  #takeText(...texts: readonly string[]): boolean {
    return this.#evaluator.limit.afford(
      'character',
      texts.reduce((sum, { length }) => sum + length, 0),
    );
  }

  #hook(instance: Instance, name: string): SourceRange | undefined {
    const method = findMethod(instance.class, name);
    if (method !== undefined || instance.creation.type !== 'CallExpression') return hookRange(method);
    const hook = hookOf(this.#evaluator, instance, name);
    return hook?.scope.file.range(hook.node);
  }

  #classSummary({ class: called }: Instance): string | undefined {
    return called.type === 'class' ? summaryAbove(called.scope.file, startOf(called.node)) : undefined;
  }

  /** The actions that the last nodes of a nested flow return; undefined for other nodes, and for flows of items or branches. */
  #innerActions(node: Instance): NodeActions | undefined {
    if (!isFlow(node) || libraryOf(node.class) !== 'Flow') return undefined;
    const cached = this.#actions.get(node);
    if (cached === 'in progress') return { known: [], unknown: undefined }; // a flow that contains itself
    if (cached !== undefined) return cached;
    if (this.#depth === MAX_DEPTH) {
      this.#evaluator.limit.exceed('level');
      return { known: [], unknown: undefined };
    }
    this.#actions.set(node, 'in progress');
    this.#depth += 1;
    const actions = this.#endings(node);
    this.#depth -= 1;
    this.#actions.set(node, actions);
    return actions;
  }

  #endings({ flow: draft, file, creation }: FlowInstance): NodeActions {
    const endings = new Map<string, ReturnedAction>();
    let hidden: Unread | undefined = draft.unread[0];
    for (const node of reachable(draft)) {
      const { actions } = readNodeFacts(this.#evaluator, node, this.#innerActions(node));
      hidden ??= actions.unknown;
      for (const { action, ranges } of actions.known) {
        const connected = draft.exits.get(node)?.get(action);
        if (connected !== undefined && connected.target !== null) continue;
        const before = endings.get(action)?.ranges ?? [];
        endings.set(action, { action, ranges: [...before, ...ranges], written: [] });
      }
    }
    if (draft.start === undefined)
      hidden ??= { reason: 'The start of the nested flow is unknown.', range: file.range(creation) };
    return { known: [...endings.values()], unknown: hidden };
  }
}

/** The nodes that connections lead to from the start. */
function reachable({ start, exits }: FlowDraft): Set<Instance> {
  const reached = new Set(start === undefined ? [] : [start]);
  for (const node of reached) {
    for (const { target } of exits.get(node)?.values() ?? []) if (target !== null) reached.add(target);
  }
  return reached;
}

function replacedEdge(
  replaced: Connection,
  { exits }: FlowDraft,
  ids: ReadonlyMap<Instance, string>,
): readonly ReplacedEdge[] {
  const { source, action } = replaced;
  const [id, by] = [ids.get(source), exits.get(source)?.get(action)];
  return id === undefined || by === undefined
    ? []
    : [{ source: id, action, range: callRange(replaced), by: callRange(by) }];
}

/** From `connect` to the end of its arguments. */
function callRange({ file, call }: Connection): SourceRange {
  const { callee } = call;
  const begin = callee.type === 'MemberExpression' ? callee.property : call;
  return file.rangeOf(startOf(begin), endOf(call));
}

/** Calls chained to the `new` expression start at the same offset. */
function chainEnd({ flow: draft, file, creation }: FlowInstance): number {
  const chained = [...draft.connections].filter((one) => one.file === file && startOf(one.call) === startOf(creation));
  return chained.reduce((end, { call }) => Math.max(end, endOf(call)), endOf(creation));
}

function unknownName(instance: Instance): Unread[] {
  const { text, isKnown } = runtimeName(instance);
  if (isKnown) return [];
  const reason = `The name of this ${text} is only known at run time, so the events of a run may not be shown here.`;
  return [{ reason, range: instance.file.range(instance.creation) }];
}

/** The result of `readHooks`; beyond the limits of the reading, nodes are shown without facts. */
function readNodeFacts(evaluator: Evaluator, instance: Instance, inner: NodeActions | undefined): HookFacts {
  try {
    if (!evaluator.limit.isExceeded) return chargedFacts(evaluator, instance, inner);
  } catch (error) {
    if (!(error instanceof ReadingLimitError)) throw error;
  }
  const range = instance.file.range(instance.creation);
  const unknown = { reason: 'The file is too large to read completely.', range };
  return { actions: { known: [], unknown }, reads: [], writes: [], unreadKeys: [] };
}

/** A node has few facts, unless a loop creates them. */
function chargedFacts(evaluator: Evaluator, instance: Instance, inner: NodeActions | undefined): HookFacts {
  const facts = readHooks(evaluator, instance, inner);
  const { actions, reads, writes, unreadKeys } = facts;
  const keys = [...reads, ...writes].flatMap(({ path }) => path);
  const names = actions.known.flatMap(({ action, written }) => [action, ...written]);
  evaluator.limit.spend('fact', keys.length + names.length + unreadKeys.length);
  const characters = [...keys, ...names].reduce((sum, { length }) => sum + length, 0);
  evaluator.limit.spend('character', characters);
  return facts;
}
