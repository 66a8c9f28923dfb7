import type { FlowEdge, FlowGraph, FlowNode } from '../graph/graph.ts';
import { foldLayout } from './fold.ts';
import { layoutGraph } from './layoutGraph.ts';
import type { Box, Layout, LayoutEdge, LayoutNode, Point } from './shape.ts';
import { cutText, pixelWidth } from './pixelWidth.ts';

export const NODE_SIZE = { width: 216, height: 60 } as const;
export const LABEL_FONT = 11;
const LABEL_WIDTH = 150;
const DEFAULT_ACTION = 'default';
const LABEL_PADDING = 14;
const END_SIZE = { width: 30, height: 6 } as const;
const STUB_SIZE = { width: 22, height: 22 } as const;
const EMPTY_INNER = { width: 160, height: 24 } as const;
/** Padding inside an expanded nested flow. */
const INNER_PADDING = { top: 64, side: 20, bottom: 20 } as const;

/** The layout of a flow: its nodes, its connections, and its expanded nested flows. */
export interface FlowLayout {
  readonly graph: FlowGraph;
  /** Also contains the ends (`endId`) and the unconnected actions (`stubId`), which the layout treats as nodes. */
  readonly layout: Layout;
  /** The layout before it was wrapped into columns, which the next layout starts from. */
  readonly unfolded: Layout;
  readonly stubs: readonly ActionStub[];
  /** Expanded nested flows by the id of their node; their positions are relative to their own origin. */
  readonly inner: ReadonlyMap<string, FlowLayout>;
}

/** An action that a node returns and that is not connected. */
export interface ActionStub {
  readonly node: string;
  readonly action: string;
}

export interface FlowLayoutOptions {
  readonly flows: readonly FlowGraph[];
  /** Whether the nested flow of a node is expanded; `path` contains node ids from the outermost flow. */
  readonly isOpen?: (path: string) => boolean;
  /** Where people have put nodes, by flow and node. */
  readonly moved?: Readonly<Record<string, Readonly<Record<string, Point>>>>;
  readonly previous?: FlowLayout | undefined;
  /** Whether long flows are wrapped into columns. */
  readonly isWrapped?: boolean | undefined;
}

export const endId = (edge: FlowEdge): string => `end ${edge.id}`;
export const stubId = ({ node, action }: ActionStub): string => `stub ${node}:${action}`;
export const pathBelow = (path: string, node: string): string => (path === '' ? node : `${path}/${node}`);

/** The label of a connection, cut to what is drawn; empty for a node's only exit, which is usually the default one. */
export const labelOf = (action: string, isOnly: boolean): string =>
  isOnly && action === DEFAULT_ACTION ? '' : cutText(action, LABEL_FONT, LABEL_WIDTH);

/** The nodes that have one exit. */
export function singleExits({ edges }: FlowGraph, stubs: readonly ActionStub[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const node of [...edges.map(({ source }) => source), ...stubs.map((stub) => stub.node)]) {
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([node, count]) => (count === 1 ? [node] : [])));
}

/** The actions of a flow's nodes that have no connection, in the order of the nodes. */
export function stubsOf({ nodes, edges }: FlowGraph): ActionStub[] {
  const connected = new Set(edges.map(({ source, action }) => `${source}:${action}`));
  return nodes.flatMap(({ id, actions }) =>
    actions.known.filter(({ action }) => !connected.has(`${id}:${action}`)).map(({ action }) => ({ node: id, action })),
  );
}

/** Lays out a flow with its expanded nested flows; see `layoutGraph` for what moves. */
export function layoutFlow(graph: FlowGraph, options: FlowLayoutOptions): FlowLayout {
  return layoutAt(graph, options, '', [graph.id], options.previous);
}

function layoutAt(
  graph: FlowGraph,
  options: FlowLayoutOptions,
  path: string,
  ancestors: readonly string[],
  previous: FlowLayout | undefined,
): FlowLayout {
  const inner = new Map<string, FlowLayout>();
  for (const node of graph.nodes) {
    const nested = nestedFlow(node, options, path, ancestors);
    if (nested === undefined) continue;
    const [before, place] = [previous?.inner.get(node.id), pathBelow(path, node.id)];
    inner.set(node.id, layoutAt(nested, options, place, [...ancestors, nested.id], before));
  }
  const stubs = stubsOf(graph);
  const moved = options.moved?.[graph.id] ?? {};
  const nodes = sortedNodes(graph).map(({ id }) => ({ id, ...sizeOf(inner.get(id)), movedTo: moved[id] }));
  const boxes = { nodes: [...nodes, ...endings(graph, stubs)], edges: connections(graph, stubs) };
  const unfolded = layoutGraph(boxes, previous?.graph.id === graph.id ? previous.unfolded : undefined);
  const layout = options.isWrapped === true ? foldLayout(unfolded, boxes) : unfolded;
  return { graph, layout, unfolded, stubs, inner };
}

function nestedFlow(
  node: FlowNode,
  { flows, isOpen }: FlowLayoutOptions,
  path: string,
  ancestors: readonly string[],
): FlowGraph | undefined {
  if (node.flow === undefined || ancestors.includes(node.flow) || isOpen?.(pathBelow(path, node.id)) !== true) {
    return undefined;
  }
  return flows.find(({ id }) => id === node.flow);
}

function sizeOf(inner: FlowLayout | undefined): { readonly width: number; readonly height: number } {
  if (inner === undefined) return NODE_SIZE;
  const { width, height } = innerSize(inner.layout);
  return {
    width: Math.max(NODE_SIZE.width, width + 2 * INNER_PADDING.side),
    height: height + INNER_PADDING.top + INNER_PADDING.bottom,
  };
}

function innerSize({ nodes, width, height }: Layout): { readonly width: number; readonly height: number } {
  return nodes.size === 0 ? EMPTY_INNER : { width, height };
}

/** The offset of a nested flow's drawing inside the box of its node. */
export function innerOffset(box: Box, { layout }: FlowLayout): Point {
  const { width } = innerSize(layout);
  return { x: Math.round(box.x + (box.width - width) / 2 - layout.x), y: box.y + INNER_PADDING.top - layout.y };
}

/** The start comes first, because the layout begins there. */
function sortedNodes({ nodes, start }: FlowGraph): FlowNode[] {
  return [...nodes.filter(({ id }) => id === start), ...nodes.filter(({ id }) => id !== start)];
}

function labelWidth(action: string, isOnly: boolean): number {
  const text = labelOf(action, isOnly);
  return text === '' ? 0 : pixelWidth(text, LABEL_FONT) + LABEL_PADDING;
}

function endings({ edges }: FlowGraph, stubs: readonly ActionStub[]): LayoutNode[] {
  const sized = (id: string, size: { readonly width: number; readonly height: number }): LayoutNode => ({
    id,
    ...size,
  });
  return [
    ...edges.filter(({ target }) => target === null).map((edge) => sized(endId(edge), END_SIZE)),
    ...stubs.map((stub) => sized(stubId(stub), STUB_SIZE)),
  ];
}

function connections(graph: FlowGraph, stubs: readonly ActionStub[]): LayoutEdge[] {
  const single = singleExits(graph, stubs);
  return [
    ...graph.edges.map((edge) => ({
      id: edge.id,
      from: edge.source,
      to: edge.target ?? endId(edge),
      labelWidth: labelWidth(edge.action, single.has(edge.source)),
    })),
    ...stubs.map((stub) => ({
      id: stubId(stub),
      from: stub.node,
      to: stubId(stub),
      labelWidth: labelWidth(stub.action, false),
    })),
  ];
}
