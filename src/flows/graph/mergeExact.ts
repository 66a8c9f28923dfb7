import type { ExactGraph, ExactNode } from './exactGraph.ts';
import { type FlowEdge, type FlowFile, type FlowGraph, type FlowNode, NODE_TYPES } from './graph.ts';

/**
 * Adds the nodes and connections that were found only by running the file. Those found in the source keep their positions; the
 * others get the position where the flow is created. Flows are matched by their labels.
 */
export function mergeExact(file: FlowFile, exact: readonly ExactGraph[]): FlowFile {
  const byLabel = new Map<string, ExactGraph>();
  for (const graph of exact) collect(graph, byLabel);
  const flows = file.flows.map((graph) => {
    const sourceGraph = byLabel.get(graph.label);
    return sourceGraph === undefined ? graph : mergeGraph(graph, sourceGraph, file.flows);
  });
  const isSettled = (graph: FlowGraph): boolean => byLabel.has(graph.label);
  return { ...file, flows, unread: flows.every(isSettled) ? [] : file.unread };
}

function collect(graph: ExactGraph, byLabel: Map<string, ExactGraph>): void {
  if (byLabel.has(graph.label)) return;
  byLabel.set(graph.label, graph);
  for (const { flow } of graph.nodes) if (flow !== undefined) collect(flow, byLabel);
}

function mergeGraph(graph: FlowGraph, exact: ExactGraph, flows: readonly FlowGraph[]): FlowGraph {
  const nodes = exact.nodes.map((node) => {
    const read = graph.nodes.find(({ label, className }) => label === node.label && className === node.className);
    return read ?? foundNode(graph, exact, node, flows);
  });
  const idOf = (label: string | null | undefined): string | undefined =>
    nodes[exact.nodes.findIndex((node) => node.label === label)]?.id;
  const edges = exact.edges.map(({ source, action, target }): FlowEdge => {
    const [from, to] = [idOf(source) ?? source, idOf(target) ?? null];
    const read = graph.edges.find((edge) => edge.source === from && edge.action === action && edge.target === to);
    return (
      read ?? { id: `${from}:${action}`, source: from, target: to, action, range: graph.range, actionRange: undefined }
    );
  });
  return { ...graph, start: idOf(exact.start), nodes, edges, unread: [] };
}

/** A node that the source does not show: its known actions are the connected ones, and there may be others. */
function foundNode(graph: FlowGraph, exact: ExactGraph, node: ExactNode, flows: readonly FlowGraph[]): FlowNode {
  const { label, className, library, flow } = node;
  const reason = 'This node was found by running the file, which does not show the actions that its post can return.';
  const connected = exact.edges.filter(({ source }) => source === label);
  return {
    id: graph.nodes.some(({ id }) => id === label) ? `${label} (run)` : label,
    label,
    className,
    type: NODE_TYPES[library] ?? 'node',
    summary: undefined,
    ranges: { instance: graph.range, class: undefined, prep: undefined, exec: undefined, post: undefined },
    actions: {
      known: connected.map(({ action }) => ({ action, ranges: [], written: [] })),
      unknown: { reason, range: graph.range },
    },
    reads: [],
    writes: [],
    unreadKeys: [{ reason, range: graph.range }],
    flow: flows.find((other) => other.label === flow?.label)?.id,
  };
}
