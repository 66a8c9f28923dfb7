import { LabelPlaces } from './edgeLabels.ts';
import { LOOP_REACH } from './edgeRoutes.ts';
import {
  type Box,
  boundsOf,
  type Layout,
  type LayoutGraph,
  type PlacedEdge,
  type PlacedNode,
  type Point,
} from './shape.ts';

const MIN_ROWS = 8;
const MAX_COLUMNS = 12;
/** Width by height of what a flow is usually shown in: half of a window. */
const ASPECT = 1.3;
// Where more connections pass between two rows, a fold there would hide the shape of the flow.
const MAX_CROSSING = 3;
const CORRIDOR = 72;
const LANE = 9;
const TURN = 50;
const LABEL_GAP = 8;

/** The rows of one column, from the first up to the second. */
type Segment = readonly [first: number, end: number];

/**
 * A layout that is much higher than wide, wrapped into columns that are read from left to right. Connections between columns
 * run through the corridors between them. Flows that would not become more legible are returned as they are, and so are those with
 * nodes that were moved by hand.
 */
export function foldLayout(layout: Layout, graph: LayoutGraph): Layout {
  const nodes = [...layout.nodes.values()];
  const rows = [...new Set(nodes.flatMap(({ row }) => row ?? []))].sort((a, b) => a - b);
  if (rows.length < MIN_ROWS || nodes.some(({ row }) => row === undefined)) return layout;
  const segments = bestSegments(layout, rows, foldableRows(layout, graph, rows));
  return segments.length < 2 ? layout : columnsOf(layout, graph, segments);
}

/** The rows above which a fold may be. */
function foldableRows({ nodes }: Layout, { edges }: LayoutGraph, rows: readonly number[]): readonly number[] {
  const spans = edges.flatMap(({ from, to }): Segment[] => {
    const [a, b] = [nodes.get(from)?.row, nodes.get(to)?.row];
    return a === undefined || b === undefined ? [] : [[Math.min(a, b), Math.max(a, b)]];
  });
  return rows.slice(1).filter((row) => spans.filter(([low, high]) => low < row && row <= high).length <= MAX_CROSSING);
}

/** The columns with which the whole is the most legible in a window. */
function bestSegments(layout: Layout, rows: readonly number[], foldable: readonly number[]): readonly Segment[] {
  let best: { readonly segments: readonly Segment[]; readonly scale: number } = {
    segments: [],
    scale: Math.min(ASPECT / layout.width, 1 / layout.height),
  };
  for (let columns = 2; columns <= MAX_COLUMNS; columns += 1) {
    const segments = segmentsOf(rows, foldable, columns);
    if (segments.length < 2) continue;
    const boxes = segments.map((segment) => boxOf(layout, segment));
    const width = boxes.reduce((sum, box) => sum + box.width + CORRIDOR, -CORRIDOR);
    const scale = Math.min(ASPECT / width, 1 / Math.max(...boxes.map(({ height }) => height)));
    if (scale > best.scale * 1.15) best = { segments, scale };
  }
  return best.segments;
}

function segmentsOf(rows: readonly number[], foldable: readonly number[], columns: number): readonly Segment[] {
  const [first = 0, last = 0] = [rows[0], rows.at(-1)];
  const height = (last - first + 1) / columns;
  const starts = [first];
  for (let column = 1; column < columns; column += 1) {
    const ideal = first + column * height;
    const above = starts.at(-1) ?? first;
    const nearest = foldable
      .filter((row) => row > above + 1 && Math.abs(row - ideal) <= height / 2)
      .toSorted((a, b) => Math.abs(a - ideal) - Math.abs(b - ideal))[0];
    if (nearest !== undefined) starts.push(nearest);
  }
  return starts.map((start, index) => [start, starts[index + 1] ?? last + 1]);
}

const holds = ([first, end]: Segment, { row }: PlacedNode): boolean => row !== undefined && row >= first && row < end;

/** The box around the nodes of a segment and the connections inside it. */
function boxOf({ nodes, edges }: Layout, segment: Segment): Box {
  const inside = [...nodes.values()].filter((node) => holds(segment, node));
  const [top, bottom] = [Math.min(...inside.map(({ y }) => y)), Math.max(...inside.map(({ y, height }) => y + height))];
  const points = [...edges.values()].flatMap((edge) => edge.points);
  const bandPoints = points.filter(({ y }) => y >= top && y <= bottom);
  const { x, width } = boundsOf([...inside, ...bandPoints.map((point) => ({ ...point, width: 0, height: 0 }))]);
  return { x, y: top, width: width + LOOP_REACH, height: bottom - top };
}

interface Column {
  /** The offset that is added to positions in the layout. */
  readonly shift: Point;
  /** Where the corridors on both sides begin. */
  readonly left: number;
  readonly right: number;
}

function columnsOf(layout: Layout, graph: LayoutGraph, segments: readonly Segment[]): Layout {
  const columns: Column[] = [];
  let left = 0;
  for (const segment of segments) {
    const { x, y, width } = boxOf(layout, segment);
    columns.push({ shift: { x: left - x, y: -y }, left, right: left + width });
    left += width + CORRIDOR;
  }
  const columnOf = (node: PlacedNode): number => segments.findIndex((segment) => holds(segment, node));
  const nodes = new Map<string, PlacedNode>();
  for (const node of layout.nodes.values()) nodes.set(node.id, moved(node, columns[columnOf(node)]?.shift));
  const labels = new LabelPlaces();
  for (const node of nodes.values()) labels.add(node);
  const lanes = new Map<number, number>();
  const edges = new Map<string, PlacedEdge>();
  for (const { id, from, to, labelWidth } of graph.edges) {
    const [edge, source, target] = [layout.edges.get(id), layout.nodes.get(from), layout.nodes.get(to)];
    if (edge === undefined || source === undefined || target === undefined) continue;
    const [a, b] = [columnOf(source), columnOf(target)];
    const [out, into] = [columns[a], columns[b]];
    if (out === undefined || into === undefined) continue;
    if (a === b) {
      const points = edge.points.map((point) => moved(point, out.shift));
      edges.set(id, { id, points, label: moved(edge.label, out.shift) });
      continue;
    }
    const corridor = a < b ? a : b;
    const lane = lanes.get(corridor) ?? 0;
    lanes.set(corridor, lane + 1);
    const start = moved(edge.points[0] ?? source, out.shift);
    const end = moved(edge.points.at(-1) ?? target, into.shift);
    const points = acrossColumns(start, end, { out, into, isNext: Math.abs(a - b) === 1, isBack: b < a, lane });
    edges.set(id, {
      id,
      points,
      label: labels.place(besideSource(points), labelWidth === 0 ? 0 : labelWidth + LABEL_GAP),
    });
  }
  const boxes = [...edges.values()].flatMap(({ points }) => points.map((point) => ({ ...point, width: 0, height: 0 })));
  return { ...boundsOf([...nodes.values(), ...boxes]), nodes, edges, bends: layout.bends };
}

function moved<T extends Point>(point: T, shift: Point = { x: 0, y: 0 }): T {
  return { ...point, x: Math.round(point.x + shift.x), y: Math.round(point.y + shift.y) };
}

/** The piece of the corridor next to the source, where the label is clear of nodes. */
function besideSource([_start, corner, next]: readonly Point[]): readonly Point[] {
  if (corner === undefined || next === undefined) return [];
  const length = Math.max(-2 * TURN, Math.min(2 * TURN, next.y - corner.y));
  return [corner, { x: corner.x, y: corner.y + length }];
}

/** The line from one column to another: along the corridor beside the source, over the columns in between, and into the target. */
function acrossColumns(
  start: Point,
  end: Point,
  {
    out,
    into,
    isNext,
    isBack,
    lane,
  }: {
    readonly out: Column;
    readonly into: Column;
    readonly isNext: boolean;
    readonly isBack: boolean;
    readonly lane: number;
  },
): Point[] {
  const offset = Math.min(LANE * (lane + 2), CORRIDOR - LANE);
  const side = isBack ? out.left - offset : out.right + offset;
  if (isNext && end.y - start.y > 2 * TURN) {
    return [start, { x: side, y: start.y + TURN }, { x: side, y: end.y - TURN }, end];
  }
  if (isNext) return [start, { x: side, y: start.y }, { x: side, y: end.y }, end];
  const above = -TURN - offset;
  const other = isBack ? into.right + offset : into.left - offset;
  return [
    start,
    { x: side, y: start.y },
    { x: side, y: above },
    { x: other, y: above },
    { x: other, y: Math.max(end.y - TURN, above) },
    end,
  ];
}
