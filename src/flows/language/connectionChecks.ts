import type { FlowEdge, FlowGraph, FlowNode, ReturnedAction } from '../graph/graph.ts';
import {
  type Examined,
  type Fix,
  type FlowDiagnostic,
  insideQuotes,
  MAX_FAULTS,
  MAX_RELATED,
  placeOfNode,
  type Severity,
} from './diagnostic.ts';
import { closest } from '../../core/text/similar.ts';

// A longer list of fixes does not help; the canvas is better for connecting one of many nodes.
const MAX_TARGETS = 6;
// Longer names are not compared for misspellings.
const MAX_COMPARED = 100;

/** The nodes that a fix may connect to. */
interface Targets {
  readonly graph: FlowGraph;
  readonly loose: readonly FlowNode[];
  readonly reachedNodes: readonly FlowNode[];
}

/** Actions that `post` can return and that are not connected. */
export function unconnectedActions(examined: Examined): FlowDiagnostic[] {
  const { file, graph, reached } = examined;
  const loose = graph.nodes.filter(({ id }) => !reached.has(id)).slice(0, MAX_TARGETS);
  const reachedNodes = graph.nodes.filter(({ id }) => reached.has(id)).slice(0, MAX_TARGETS + 1);
  const targets = { graph, loose, reachedNodes };
  return looseActions(examined)
    .slice(0, MAX_FAULTS)
    .map(({ node, action, ranges }): FlowDiagnostic => {
      const place = placeOfNode(examined, node);
      const range = ranges.find((one) => one.file === file.file) ?? place;
      const hidden = graph.unread[0];
      return {
        code: 'unconnected-action',
        severity: hidden === undefined ? 'warning' : 'hint',
        message:
          `"${node.label}" can return the action "${action}", but ${graph.label} has no connection for it: ` +
          `the flow would end there with a warning. Connect the action, or end the flow with connect(node, null${action === 'default' ? '' : `, '${action}'`}).`,
        range,
        related: [
          { message: `${node.label} in ${graph.label}`, range: place },
          ...(hidden === undefined ? [] : [{ message: hidden.reason, range: hidden.range }]),
        ],
        fixes: connectionFixes(targets, node, action),
        flow: graph.id,
        node: node.id,
      };
    });
}

/** The actions of the reached nodes that are not connected. */
function looseActions({ graph, reached }: Examined): (ReturnedAction & { readonly node: FlowNode })[] {
  const connected = new Set(graph.edges.map(({ source, action }) => `${source}:${action}`));
  const returned = graph.nodes
    .filter(({ id }) => reached.has(id))
    .flatMap((node) => node.actions.known.map((possible) => ({ node, ...possible })));
  return returned.filter(({ node, action }) => !connected.has(`${node.id}:${action}`));
}

function connectionFixes({ graph, loose, reachedNodes }: Targets, node: FlowNode, action: string): Fix[] {
  const connect = (target: string | null): Fix => {
    const label = graph.nodes.find(({ id }) => id === target)?.label;
    return {
      title: label === undefined ? `End the flow at "${action}"` : `Connect "${action}" to ${label}`,
      operation: { type: 'connect', flow: graph.id, source: node.id, target, action },
    };
  };
  // Nodes without a connection to them are the likeliest targets.
  const targets = [...loose, ...reachedNodes].filter(({ id }) => id !== node.id);
  const className = newClassName(action, graph.nodes);
  return [
    connect(null),
    ...targets.slice(0, MAX_TARGETS).map(({ id }) => connect(id)),
    {
      title: `Create a node ${className} for "${action}"`,
      operation: { type: 'addNode', flow: graph.id, className, from: { node: node.id, action } },
    },
  ];
}

/** A class name for an action: `ask-again` becomes `AskAgain`. */
function newClassName(action: string, nodes: readonly FlowNode[]): string {
  const words = action.match(/[\p{L}\p{N}]+/gu) ?? [];
  const camelCase = words.map((word) => (word[0]?.toUpperCase() ?? '') + word.slice(1)).join('');
  const stem = action === 'default' || !/^\p{L}/u.test(camelCase) ? 'NextStep' : camelCase;
  const classNames = new Set(nodes.map(({ className }) => className));
  let name = stem;
  for (let number = 2; classNames.has(name); number += 1) name = `${stem}${number}`;
  return name;
}

/** Connections that a later one for the same node and action replaces. */
export function replacedConnections({ file, graph }: Examined): FlowDiagnostic[] {
  const replaced = (graph.replaced ?? []).filter(({ range }) => range.file === file.file);
  return replaced.slice(0, MAX_FAULTS).map(({ source, action, range, by }): FlowDiagnostic => {
    const label = graph.nodes.find(({ id }) => id === source)?.label ?? source;
    return {
      code: 'replaced-connection',
      severity: 'warning',
      message: `"${label}" is connected again for the action "${action}" below, which replaces this connection. Remove one of the two.`,
      range,
      related: [{ message: 'the connection that counts', range: by }],
      fixes: [],
      flow: graph.id,
      node: source,
    };
  });
}

/** Connections for actions that `post` never returns. */
export function unusedConnections(examined: Examined): FlowDiagnostic[] {
  const { file, graph } = examined;
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const returns = new Set(
    graph.nodes.flatMap(({ id, actions }) => actions.known.map(({ action }) => `${id}:${action}`)),
  );
  const unused = graph.edges.flatMap((edge) => {
    const node = nodes.get(edge.source);
    if (node === undefined || node.actions.unknown !== undefined || edge.range.file !== file.file) return [];
    return returns.has(`${node.id}:${edge.action}`) ? [] : [{ edge, node }];
  });
  return unused.slice(0, MAX_FAULTS).map(({ edge, node }): FlowDiagnostic => {
    const firstActions = node.actions.known.slice(0, MAX_RELATED);
    const more = node.actions.known.length > firstActions.length ? ', …' : '';
    const returned = firstActions.map(({ action }) => `"${action}"`).join(', ') + more || 'nothing';
    const range = edge.actionRange?.file === file.file ? edge.actionRange : edge.range;
    return {
      code: 'unused-connection',
      severity: 'warning',
      message: `"${node.label}" never returns the action "${edge.action}" (it returns ${returned}), so this connection is never taken.`,
      range,
      related: firstActions.flatMap(({ action, ranges }) =>
        ranges.slice(0, 1).map((place) => ({ message: `returns "${action}"`, range: place })),
      ),
      fixes: [
        ...replacements(edge, node),
        { title: 'Delete the connection', operation: { type: 'deleteEdge', flow: graph.id, edge: edge.id } },
      ],
      flow: graph.id,
      node: node.id,
    };
  });
}

/** Fixes that replace the action, between the quotes of its literal, by a similar one. */
function replacements({ action, actionRange }: FlowEdge, { actions }: FlowNode): Fix[] {
  if (actionRange === undefined || action.length > MAX_COMPARED) return [];
  const names = actions.known
    .map((possible) => possible.action)
    .filter((name) => name.length <= MAX_COMPARED && !/['"`\\]/.test(name))
    .slice(0, MAX_RELATED);
  const range = insideQuotes(actionRange);
  return closest(action, names).map((name) => ({ title: `Change to "${name}"`, edits: [{ range, text: name }] }));
}

/** Connected nodes that cannot be reached from the start. */
export function unreachableNodes(examined: Examined): FlowDiagnostic[] {
  const { graph, reached } = examined;
  if (graph.start === undefined) return [];
  const severity: Severity = graph.unread.length === 0 ? 'warning' : 'hint';
  if (graph.nodes.every(({ id }) => reached.has(id))) return [];
  const loose = looseActions(examined).slice(0, MAX_TARGETS);
  return graph.nodes
    .filter(({ id }) => !reached.has(id))
    .slice(0, MAX_FAULTS)
    .map((node) => ({
      code: 'unreachable-node',
      severity,
      message: `"${node.label}" is never reached: no connection leads to it from the start of ${graph.label}. Connect a node to it, or remove it.`,
      range: placeOfNode(examined, node),
      related: [],
      fixes: [
        ...loose.map(({ node: source, action }) => ({
          title: `Connect "${action}" of ${source.label} to it`,
          operation: { type: 'connect', flow: graph.id, source: source.id, target: node.id, action } as const,
        })),
        {
          title: `Remove ${node.label} from the flow`,
          operation: { type: 'deleteNode', flow: graph.id, node: node.id } as const,
        },
      ],
      flow: graph.id,
      node: node.id,
    }));
}
