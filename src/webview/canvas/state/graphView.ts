import { drawFlow, edgeAt, nodeAt } from '../../../flows/layout/drawing.ts';
import { mainFlow } from '../../../flows/graph/flowChoice.ts';
import type { FlowFile, FlowGraph, SourceRange } from '../../../flows/graph/graph.ts';
import { layoutFlow } from '../../../flows/layout/flowLayout.ts';
import type { GraphMessage } from './canvasMessages.ts';
import { type CanvasState, NOTHING_DRAWN, type CanvasSelection } from './canvasStore.ts';

/** The flow that is shown; undefined if the file has none. */
export function shownFlow({
  file,
  flow,
  versions,
}: Pick<CanvasState, 'file' | 'flow' | 'versions'>): FlowGraph | undefined {
  return (versions?.file ?? file)?.flows.find(({ id }) => id === flow);
}

/** The state after the source has changed. */
export function withGraph(state: CanvasState, message: GraphMessage): Partial<CanvasState> {
  const { file, version, isTrusted, isTrace = false } = message;
  const flow = (file.flows.find(({ id }) => id === state.flow) ?? mainFlow(file))?.id;
  const next = { ...state, file, flow, moved: message.moved ?? state.moved };
  return { file, version, isTrusted, isTrace, moved: next.moved, flow, ...withLayout(next) };
}

/** The drawing of a state; with `isTidy` it is laid out from scratch instead of keeping positions. */
export function withLayout(state: CanvasState, { isTidy = false } = {}): Partial<CanvasState> {
  const graph = shownFlow(state);
  if (graph === undefined) return { shown: undefined, drawing: NOTHING_DRAWN, selected: undefined };
  const layout = layoutFlow(graph, {
    flows: (state.versions?.file ?? state.file)?.flows ?? [],
    isOpen: (path) => state.open.has(path),
    moved: state.moved,
    isWrapped: state.isWrapped,
    previous: isTidy ? undefined : state.shown,
  });
  const drawing = drawFlow(layout);
  const { selected: before } = state;
  const element = before?.type === 'node' ? nodeAt(drawing, before.path) : edgeAt(drawing, before?.key);
  const selected = element === undefined ? undefined : before;
  const paths = new Set(drawing.nodes.map(({ path }) => path));
  return { shown: layout, drawing, selected, marked: state.marked.intersection(paths) };
}

/** The selection at an offset of the source: the connection there, or else the node with the smallest range around it. */
export function selectionAt(state: CanvasState, file: string, offset: number): CanvasSelection | undefined {
  const holds = (range: SourceRange | undefined): boolean =>
    range !== undefined && range.file === file && range.start.offset <= offset && offset <= range.end.offset;
  const edge = state.drawing.edges.find((candidate) => holds(candidate.edge?.range));
  if (edge !== undefined) return { type: 'edge', key: edge.key };
  const nodes = state.drawing.nodes
    .flatMap(({ path, node: { ranges } }) => [ranges.instance, ranges.class].map((range) => ({ path, range })))
    .filter(({ range }) => holds(range))
    .sort((a, b) => lengthOf(a.range) - lengthOf(b.range));
  const path = nodes[0]?.path;
  return path === undefined ? undefined : { type: 'node', path };
}

function lengthOf(range: SourceRange | undefined): number {
  return range === undefined ? 0 : range.end.offset - range.start.offset;
}

/** The range of the selection in the source. */
export function flowRange({ drawing }: CanvasState, selection: CanvasSelection | undefined): SourceRange | undefined {
  if (selection?.type === 'node') {
    const ranges = nodeAt(drawing, selection.path)?.node.ranges;
    return ranges?.class ?? ranges?.instance;
  }
  const drawnEdge = edgeAt(drawing, selection?.key);
  if (drawnEdge?.edge !== undefined) return drawnEdge.edge.range;
  const source = nodeAt(drawing, drawnEdge?.source)?.node;
  const returned = source?.actions.known.find(({ action }) => action === drawnEdge?.action)?.ranges[0];
  return returned ?? source?.ranges.post ?? source?.ranges.instance;
}

/** The unreadable constructs of the shown flow and of the file. */
export function unreadOf(file: FlowFile, flow: string | undefined): FlowFile['unread'] {
  const graph = file.flows.find(({ id }) => id === flow);
  const all = [...file.unread, ...(graph?.unread ?? [])];
  const seen = new Set<string>();
  return all.filter(({ range, reason }) => {
    const key = `${range.file}:${range.start.offset}:${reason}`;
    return !seen.has(key) && seen.add(key);
  });
}
