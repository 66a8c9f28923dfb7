import { type FlowEdge, type FlowNode, NODE_TYPES } from '../graph/graph.ts';
import {
  endId,
  type FlowLayout,
  innerOffset,
  labelOf,
  pathBelow,
  singleExits,
  type ActionStub,
  stubId,
} from './flowLayout.ts';
import type { Box, Point } from './shape.ts';

/** The title of a node on the page: its class, or its name if it has no class of its own. */
export function titleOf({ className, label }: FlowNode): string {
  return className in NODE_TYPES ? label || className : className;
}

/** What follows the title of a flow that runs once for each item of an array. */
export function repetitionOf({ flow, type }: FlowNode): '' | ' ×n' {
  return flow !== undefined && type !== 'flow' ? ' ×n' : '';
}

/** A node at its position on the page. */
export interface DrawnNode {
  /** The node ids from the outermost flow, joined by `/`: unique on the page. */
  readonly path: string;
  /** The id of the FlowGraph that it belongs to. */
  readonly flow: string;
  readonly node: FlowNode;
  readonly box: Box;
  readonly isStart: boolean;
  /** Whether its nested flow is drawn inside. */
  readonly isOpen: boolean;
}

/** A connection at its position on the page, or (with a stub) an action without a connection. */
export interface DrawnEdge {
  /** Unique on the page. */
  readonly key: string;
  readonly flow: string;
  /** The paths of the nodes it connects; undefined for the end of the flow and for stubs. */
  readonly source: string;
  readonly target: string | undefined;
  readonly action: string;
  /** The label of the line; may be empty. */
  readonly text: string;
  readonly edge: FlowEdge | undefined;
  readonly points: readonly Point[];
  readonly label: Point;
  /** The bar of an end, or the circle of a stub. */
  readonly tail: Box | undefined;
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  readonly bounds: Box;
}

/** The path of the flow that contains a node, up to the name of the node; empty for the outermost flow. */
export function levelOf({ path, node }: Pick<DrawnNode, 'path' | 'node'>): string {
  return path.slice(0, path.length - node.id.length);
}

export function nodeAt({ nodes }: Pick<Drawing, 'nodes'>, path: string | undefined): DrawnNode | undefined {
  return nodes.find((node) => node.path === path);
}

export function edgeAt({ edges }: Pick<Drawing, 'edges'>, key: string | undefined): DrawnEdge | undefined {
  return edges.find((edge) => edge.key === key);
}

/** Everything drawn for a flow and its expanded nested flows, in one coordinate system; outer nodes come before inner ones. */
export function drawFlow(flowLayout: FlowLayout): Drawing {
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  addFlow(flowLayout, '', { x: 0, y: 0 }, nodes, edges);
  const { x, y, width, height } = flowLayout.layout;
  return { nodes, edges, bounds: { x, y, width, height } };
}

function addFlow(flowLayout: FlowLayout, path: string, offset: Point, nodes: DrawnNode[], edges: DrawnEdge[]): void {
  const { graph, layout, stubs, inner } = flowLayout;
  const at = <T extends Point>(point: T): T => ({ ...point, x: point.x + offset.x, y: point.y + offset.y });
  const add = (
    id: string,
    tail: string | undefined,
    edge: Pick<DrawnEdge, 'source' | 'target' | 'action' | 'text' | 'edge'>,
  ): void => {
    const placed = layout.edges.get(id);
    if (placed === undefined) return;
    const box = tail === undefined ? undefined : layout.nodes.get(tail);
    edges.push({
      ...edge,
      key: pathBelow(path, id),
      flow: graph.id,
      points: placed.points.map(at),
      label: at(placed.label),
      tail: box && at(box),
    });
  };
  const single = singleExits(graph, stubs);
  for (const edge of graph.edges) {
    const { id, source, target, action } = edge;
    const tail = target === null ? endId(edge) : undefined;
    const to = target === null ? undefined : pathBelow(path, target);
    const text = labelOf(action, single.has(source));
    add(id, tail, { source: pathBelow(path, source), target: to, action, text, edge });
  }
  for (const stub of stubs) addStub(stub);
  for (const node of graph.nodes) {
    const placedNode = layout.nodes.get(node.id);
    if (placedNode === undefined) continue;
    const [box, nested, place] = [at(placedNode), inner.get(node.id), pathBelow(path, node.id)];
    const isStart = node.id === graph.start;
    nodes.push({ path: place, flow: graph.id, node, box, isStart, isOpen: nested !== undefined });
    if (nested === undefined) continue;
    const { x, y } = innerOffset(box, nested);
    addFlow(nested, place, { x, y }, nodes, edges);
  }

  function addStub(stub: ActionStub): void {
    const id = stubId(stub);
    const text = labelOf(stub.action, false);
    add(id, id, { source: pathBelow(path, stub.node), target: undefined, action: stub.action, text, edge: undefined });
  }
}
