import type { FlowEdge, FlowFile, FlowGraph, FlowNode, SourceRange } from '../../../src/flows/graph/graph.ts';

const FILE = '/flows/agent.mts';

/** A range on a line of its own, so that each part of a drawn flow is distinct. */
export function lineRange(line: number): SourceRange {
  return {
    file: FILE,
    start: { offset: line * 100, line, column: 0 },
    end: { offset: line * 100 + 40, line, column: 40 },
  };
}

interface NodeOptions {
  readonly type?: FlowNode['type'];
  readonly flow?: string;
  readonly summary?: string;
  readonly className?: string;
  /** Actions that it returns besides those that are connected. */
  readonly actions?: readonly string[];
}

/**
 * A flow from lines such as `decide -search-> lookUp`, `write -> .` (the end) and `decide` (a node alone). The first node is
 * the start. Stands for what the reader gives, in tests of what is drawn.
 */
export function drawnFlow(
  id: string,
  lines: readonly string[],
  options: Readonly<Record<string, NodeOptions>> = {},
): FlowGraph {
  const parsed = lines.map((line) => /^(\w+)(?: -(?:([\w ]+)-)?> (\w+|\.))?$/.exec(line) ?? []);
  const ids = [...new Set(parsed.flatMap(([, from = '', , to = '.']) => (to === '.' ? [from] : [from, to])))];
  const edges = parsed.flatMap(([, source = '', action = 'default', to], index): FlowEdge[] =>
    to === undefined
      ? []
      : [
          {
            id: `${source}:${action}`,
            source,
            target: to === '.' ? null : to,
            action,
            range: lineRange(500 + index),
            actionRange: undefined,
          },
        ],
  );
  return {
    id,
    label: id,
    className: 'Flow',
    summary: undefined,
    range: lineRange(499),
    start: ids[0],
    nodes: ids.map((name, index) => drawnNode(name, index, edges, options[name] ?? {})),
    edges,
    runs: [],
    unread: [],
  };
}

function drawnNode(id: string, index: number, edges: readonly FlowEdge[], options: NodeOptions): FlowNode {
  const connected = edges.filter(({ source }) => source === id).map(({ action }) => action);
  const actions = [...connected, ...(options.actions ?? [])];
  return {
    id,
    label: id,
    className: options.className ?? `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
    type: options.type ?? 'node',
    summary: options.summary,
    ranges: {
      instance: lineRange(index * 10),
      class: lineRange(index * 10 + 1),
      prep: undefined,
      exec: undefined,
      post: lineRange(index * 10 + 2),
    },
    actions: { known: actions.map((action) => ({ action, ranges: [], written: [] })), unknown: undefined },
    reads: [],
    writes: [],
    unreadKeys: [],
    flow: options.flow,
  };
}

/** A file that holds these flows. */
export function drawnFile(flows: readonly FlowGraph[], more: Partial<FlowFile> = {}): FlowFile {
  return {
    file: FILE,
    flows,
    unread: [],
    models: [],
    syntaxError: undefined,
    isStale: false,
    dependencies: [],
    ...more,
  };
}
