import { AppError } from '../../core/errors.ts';
import type { FlowEdge, FlowGraph, FlowNode, SourceRange } from '../graph/graph.ts';

const MOST_NODES = 2_000;
const NOWHERE = { offset: 0, line: 0, column: 0 };

interface GraphDraft {
  readonly nodes: Map<string, FlowNode>;
  readonly edges: Map<string, FlowEdge>;
  start: string | undefined;
}

/** The graphs of all runs of a trace: nodes with the same names in the same place are one. */
export class TracedGraphs {
  readonly #range: SourceRange;
  readonly #graphs = new Map<string, GraphDraft>();
  #nodes = 0;

  constructor(file: string) {
    this.#range = { file, start: NOWHERE, end: NOWHERE };
  }

  /** Adds a node. @throws AppError `limit` for more nodes than are drawn. */
  node(flow: string, name: string, inner: string | undefined): void {
    const graph = this.#graphOf(flow);
    const existing = graph.nodes.get(name);
    graph.start ??= name;
    if (existing !== undefined && (existing.flow !== undefined || inner === undefined)) return;
    this.#nodes += existing === undefined ? 1 : 0;
    if (this.#nodes > MOST_NODES) throw new AppError('limit', `The trace has more than ${MOST_NODES} different steps.`);
    graph.nodes.set(name, {
      id: name,
      label: name,
      className: name,
      type: inner === undefined ? 'node' : 'flow',
      summary: undefined,
      ranges: { instance: this.#range, class: undefined, prep: undefined, exec: undefined, post: undefined },
      actions: { known: [], unknown: undefined },
      reads: [],
      writes: [],
      unreadKeys: [],
      flow: inner,
    });
  }

  edge(flow: string, source: string, target: string | null, action: string): void {
    const id = `${source}/${action}`; // names have no slash
    const edge = { id, source, target, action, range: this.#range, actionRange: undefined };
    const { edges } = this.#graphOf(flow);
    if (!edges.has(id)) edges.set(id, edge);
  }

  all(): FlowGraph[] {
    return [...this.#graphs].map(([id, { nodes, edges, start }]) => ({
      id,
      label: id.split('/').at(-1) ?? id,
      className: 'Flow',
      summary: undefined,
      range: this.#range,
      start,
      nodes: [...nodes.values()],
      edges: [...edges.values()],
      runs: [],
      unread: [],
    }));
  }

  #graphOf(id: string): GraphDraft {
    const graph: GraphDraft = this.#graphs.get(id) ?? { nodes: new Map(), edges: new Map(), start: undefined };
    this.#graphs.set(id, graph);
    return graph;
  }
}
