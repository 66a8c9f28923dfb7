import type { FlowEdge, FlowFile, FlowGraph, FlowNode } from '../graph/graph.ts';

/** A file of flows with a hash of the source of each node, by `flow/node`; from `sourceHashes`. */
export interface FlowVersion {
  readonly file: FlowFile;
  readonly hashes: Readonly<Record<string, string>>;
}

export const CHANGE_KINDS = ['added', 'removed', 'changed'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A node or connection that differs between two versions. */
export interface FlowChange {
  readonly kind: ChangeKind;
  /** The id of the flow. */
  readonly flow: string;
  /** The id of the node, or of a connection its source. */
  readonly node: string;
  /** The id of the connection. */
  readonly edge?: string | undefined;
  /** What changed, as the end of a sentence; empty for what was added or removed. */
  readonly text: string;
}

/** Two versions of a file in one: the flows of the second, with the nodes and connections that only the first has. */
export interface ComparedFlows {
  readonly file: FlowFile;
  /** In the order of the flows, their nodes and their connections. */
  readonly changes: readonly FlowChange[];
}

/** Compares two versions of a file. A node is the same if its id is, a connection if its node and its action are. */
export function compareFlows(before: FlowVersion, after: FlowVersion): ComparedFlows {
  const old = new Map(before.file.flows.map((flow) => [flow.id, flow]));
  const ids = new Set(after.file.flows.map(({ id }) => id));
  const pairs: (readonly [FlowGraph | undefined, FlowGraph | undefined])[] = [
    ...after.file.flows.map((flow) => [old.get(flow.id), flow] as const),
    ...before.file.flows.filter(({ id }) => !ids.has(id)).map((flow) => [flow, undefined] as const),
  ];
  const compared = pairs.map(([one, other]) => compareGraphs(one, other, before.hashes, after.hashes));
  return {
    file: { ...after.file, flows: compared.map(({ graph }) => graph), syntaxError: undefined },
    changes: compared.flatMap(({ changes }) => changes),
  };
}

function compareGraphs(
  before: FlowGraph | undefined,
  after: FlowGraph | undefined,
  oldHashes: FlowVersion['hashes'],
  newHashes: FlowVersion['hashes'],
): { readonly graph: FlowGraph; readonly changes: readonly FlowChange[] } {
  const graph = after ?? before;
  if (graph === undefined) throw new TypeError('One of the two versions must have the flow.');
  const { id } = graph;
  const nodes = pairsOf(before?.nodes ?? [], after?.nodes ?? []);
  const edges = pairsOf(before?.edges ?? [], after?.edges ?? []);
  const nodeChanges = nodes.flatMap(([one, other]): FlowChange[] => {
    const key = `${id}/${(other ?? one)?.id}`;
    const isStart = other?.id === after?.start && before !== undefined && before.start !== after?.start;
    const text = [
      one?.type === other?.type ? '' : `type ${one?.type} is ${other?.type}`,
      oldHashes[key] === newHashes[key] ? '' : 'its source',
      isStart ? 'it is the start now' : '',
    ];
    return changeOf(id, one, other, text.filter(Boolean).join(', '), { node: (other ?? one)?.id ?? '' });
  });
  const edgeChanges = edges.flatMap(([one, other]) => {
    const text = one?.target === other?.target ? '' : `it led to ${endOf(one)}, now to ${endOf(other)}`;
    const { source = '', id: edge = '' } = other ?? one ?? {};
    return changeOf(id, one, other, text, { node: source, edge });
  });
  const merged = <T>(pairs: readonly Pair<T>[]): T[] => pairs.flatMap(([one, other]) => other ?? one ?? []);
  const nodeIds = new Set(merged(nodes).map((node) => node.id));
  return {
    graph: {
      ...graph,
      nodes: merged(nodes),
      edges: merged(edges).filter(
        ({ source, target }) => nodeIds.has(source) && (target === null || nodeIds.has(target)),
      ),
    },
    changes: [...nodeChanges, ...edgeChanges],
  };
}

type Pair<T> = readonly [before: T | undefined, after: T | undefined];

/** The same things of two versions side by side, in the order of the second; those that only the first has come last. */
function pairsOf<T extends FlowNode | FlowEdge>(before: readonly T[], after: readonly T[]): Pair<T>[] {
  const old = new Map(before.map((each) => [each.id, each]));
  const ids = new Set(after.map(({ id }) => id));
  return [
    ...after.map((each): Pair<T> => [old.get(each.id), each]),
    ...before.filter(({ id }) => !ids.has(id)).map((each): Pair<T> => [each, undefined]),
  ];
}

function changeOf(
  flow: string,
  before: FlowNode | FlowEdge | undefined,
  after: FlowNode | FlowEdge | undefined,
  text: string,
  place: Pick<FlowChange, 'node' | 'edge'>,
): FlowChange[] {
  if (before === undefined) return [{ kind: 'added', flow, ...place, text: '' }];
  if (after === undefined) return [{ kind: 'removed', flow, ...place, text: '' }];
  return text === '' ? [] : [{ kind: 'changed', flow, ...place, text }];
}

function endOf(edge: FlowEdge | undefined): string {
  return edge?.target ?? 'the end';
}
