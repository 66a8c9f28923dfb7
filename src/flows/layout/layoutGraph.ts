import { type Arc, type Vertex, buildVertices, upperOf } from './vertices.ts';
import { bendKey, buildGrid, type GridCell, type Grid, type CellLink } from './grid.ts';
import { assignColumns } from './assignColumns.ts';
import { type Earlier, keepColumns } from './gaps.ts';
import { LabelPlaces } from './edgeLabels.ts';
import { orderRows } from './ordering.ts';
import { type Band, LOOP_REACH, routeChain, routeFreely, routeLoop } from './edgeRoutes.ts';
import { assignRows } from './assignRows.ts';
import {
  type Box,
  boundsOf,
  type Layout,
  type LayoutGraph,
  type PlacedEdge,
  type PlacedNode,
  type Point,
} from './shape.ts';

const ROW_GAP = 72;
const LABEL_GAP = 8;

/**
 * Lays out a graph from top to bottom, so that connections point down where the graph allows it, and few cross.
 *
 * With an earlier layout, nodes that did not change do not move: new nodes take free positions near their neighbours, and only
 * nodes that must be lower move down. Equal input returns an equal layout.
 */
export function layoutGraph(graph: LayoutGraph, previous?: Layout): Layout {
  const base = previous === undefined || !sharesNodes(graph, previous) ? undefined : previous;
  const oldRow = (vertex: Vertex): number | undefined => base?.nodes.get(vertex.node.id)?.row;
  const { vertices, arcs } = buildVertices(graph);
  markBackArcs(vertices, oldRow);
  const rows = assignRows(vertices, oldRow);
  const earlier = base && { layout: base, rows };
  const grid = buildGrid(vertices, arcs, loopWidths(graph));

  const bands = bandsOf(grid, graph, earlier);
  const moved = graph.nodes.flatMap(({ id, width, height, movedTo }): PlacedNode[] =>
    movedTo === undefined ? [] : [{ id, ...movedTo, width, height, row: undefined }],
  );
  if (earlier === undefined) {
    orderRows(grid.rows);
    assignColumns(grid.rows);
  } else {
    keepColumns(
      grid,
      earlier,
      bands.map(({ top, bottom }) => moved.filter((box) => box.y < bottom && box.y + box.height > top)),
    );
  }
  const nodes = new Map(moved.map((node) => [node.id, node]));
  for (const { node, row } of vertices) {
    const [cell, band] = [grid.nodes.get(node.id), bands[row - grid.firstRow]];
    if (cell === undefined || band === undefined) continue;
    const { id, width, height } = node;
    nodes.set(id, { id, x: Math.round(cell.x - width / 2), y: band.top, width, height, row });
  }
  const edges = placeEdges(graph, nodes, routesOf(grid, arcs, nodes, bands));
  const bends = new Map(
    grid.rows.flat().flatMap(({ isBend, key, row, x }) => (isBend ? [[bendKey(key, row), x]] : [])),
  );
  return { ...boundsOf(boxesOf(nodes, edges)), nodes, edges, bends };
}

/** An earlier layout is kept if it contains at least a third of the graph; otherwise the whole graph is laid out again. */
function sharesNodes({ nodes }: LayoutGraph, previous: Layout): boolean {
  const shared = nodes.filter(({ id }) => previous.nodes.has(id)).length;
  return shared * 3 >= nodes.length && shared > 0;
}

function loopWidths({ edges }: LayoutGraph): (id: string) => number {
  const widths = new Map<string, number>();
  for (const { from, to, labelWidth } of edges) {
    if (from === to) widths.set(from, Math.max(widths.get(from) ?? 0, LOOP_REACH + labelWidth / 2));
  }
  return (id) => widths.get(id) ?? 0;
}

/** Rows as high as their highest node; the first row that was there before stays at its height on the page. */
function bandsOf({ rows }: Grid, { nodes }: LayoutGraph, earlier: Earlier | undefined): Band[] {
  const heights = new Map(nodes.map(({ id, height }) => [id, height]));
  const bands: { top: number; bottom: number }[] = [];
  let top = 0;
  for (const row of rows) {
    const bottom = top + row.reduce((height, { key }) => Math.max(height, heights.get(key) ?? 0), 0);
    bands.push({ top, bottom });
    top = bottom + ROW_GAP;
  }
  const shift = earlier === undefined ? 0 : shiftOf(rows, bands, earlier);
  for (const band of bands) {
    band.top += shift;
    band.bottom += shift;
  }
  return bands;
}

function shiftOf(rows: readonly (readonly GridCell[])[], bands: readonly Band[], earlier: Earlier): number {
  for (const [index, row] of rows.entries()) {
    for (const { key, isBend } of row) {
      const old = isBend ? undefined : earlier.layout.nodes.get(key);
      if (old !== undefined && old.row === earlier.rows[index]) return old.y - (bands[index]?.top ?? 0);
    }
  }
  return 0;
}

function routesOf(
  grid: Grid,
  arcs: readonly Arc[],
  nodes: ReadonlyMap<string, PlacedNode>,
  bands: readonly Band[],
): Map<string, Point[]> {
  const ports = portsOf(grid.rows.flat());
  const bandOf = (row: number): Band => bands[row - grid.firstRow] ?? { top: 0, bottom: 0 };
  const routes = new Map<string, Point[]>();
  for (const arc of arcs) {
    const chain = grid.chains.get(arc) ?? [];
    const [first, last, upper] = [chain[0], chain.at(-1), nodes.get(upperOf(arc).node.id)];
    if (first === undefined || last === undefined || upper === undefined) continue;
    const ends = [ports.upper.get(first) ?? first.upper.x, ports.lower.get(last) ?? last.lower.x] as const;
    const points = routeChain(chain, ends, upper, bandOf);
    routes.set(arc.edge.id, arc.isBack ? points.reverse() : points);
  }
  return routes;
}

function placeEdges(
  { edges }: LayoutGraph,
  nodes: ReadonlyMap<string, PlacedNode>,
  routes: ReadonlyMap<string, readonly Point[]>,
): Map<string, PlacedEdge> {
  const labels = new LabelPlaces();
  for (const node of nodes.values()) labels.add(node);
  const placedEdges = new Map<string, PlacedEdge>();
  for (const { id, from, to, labelWidth } of edges) {
    const [source, target] = [nodes.get(from), nodes.get(to)];
    if (source === undefined || target === undefined) continue;
    if (source === target) {
      const label = { x: source.x + source.width + LOOP_REACH, y: source.y + source.height / 2 };
      placedEdges.set(id, { id, points: routeLoop(source), label });
      continue;
    }
    const points = routes.get(id) ?? routeFreely(source, target);
    placedEdges.set(id, { id, points, label: labels.place(points, labelWidth === 0 ? 0 : labelWidth + LABEL_GAP) });
  }
  return placedEdges;
}

function* boxesOf(nodes: ReadonlyMap<string, PlacedNode>, edges: ReadonlyMap<string, PlacedEdge>): Generator<Box> {
  yield* nodes.values();
  for (const { points } of edges.values()) for (const point of points) yield { ...point, width: 0, height: 0 };
}

const SPACING = 26;
// The part of a border that is not the rounded corner.
const USABLE = 0.78;

/** Where each line meets its node: spread evenly around the middle, ordered by the lines' other ends so that none cross there. */
function portsOf(cells: Iterable<GridCell>): {
  upper: ReadonlyMap<CellLink, number>;
  lower: ReadonlyMap<CellLink, number>;
} {
  const ports = { upper: new Map<CellLink, number>(), lower: new Map<CellLink, number>() };
  for (const cell of cells) {
    spread(cell, cell.below, (link) => link.lower, ports.upper);
    spread(cell, cell.above, (link) => link.upper, ports.lower);
  }
  return ports;
}

function spread(
  cell: GridCell,
  links: readonly CellLink[],
  otherOf: (link: CellLink) => GridCell,
  ports: Map<CellLink, number>,
): void {
  const sorted = links.toSorted((a, b) => otherOf(a).x - otherOf(b).x || Number(a.isBack) - Number(b.isBack));
  const spacing = links.length < 2 ? 0 : Math.min(SPACING, (2 * cell.left * USABLE) / (links.length - 1));
  sorted.forEach((link, index) => {
    ports.set(link, cell.isBend ? cell.x : cell.x + (index - (links.length - 1) / 2) * spacing);
  });
}

/**
 * Marks the arcs that point back, so that the others form no cycle.
 *
 * An arc that pointed up or down in the earlier layout keeps its direction. The rest is found by a depth-first search from
 * the first vertex on, then from those that nothing leads to: an arc to a vertex that is still being explored points back.
 */
function markBackArcs(vertices: readonly Vertex[], oldRow: (vertex: Vertex) => number | undefined): void {
  for (const { arcs } of vertices) {
    for (const arc of arcs.out) {
      const [from, to] = [oldRow(arc.from), oldRow(arc.to)];
      arc.isBack = from !== undefined && to !== undefined && from > to;
    }
  }
  const open = new Set<Vertex>();
  const seen = new Set<Vertex>();
  const [first, ...others] = vertices;
  const roots = others.filter(({ arcs }) => arcs.in.length === 0);
  for (const root of [...(first === undefined ? [] : [first]), ...roots, ...others]) {
    if (!seen.has(root)) explore(root, open, seen);
  }
}

// Uses its own stack: recursion through thousands of nodes would overflow the call stack.
function explore(root: Vertex, open: Set<Vertex>, seen: Set<Vertex>): void {
  const stack: { readonly vertex: Vertex; readonly arcs: readonly Arc[]; next: number }[] = [];
  const enter = (vertex: Vertex): void => {
    seen.add(vertex);
    open.add(vertex);
    stack.push({ vertex, arcs: vertex.arcs.out, next: 0 });
  };
  enter(root);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const arc = top.arcs[top.next];
    top.next += 1;
    if (arc === undefined) {
      open.delete(top.vertex);
      stack.pop();
    } else if (!arc.isBack && open.has(arc.to)) arc.isBack = true;
    else if (!arc.isBack && !seen.has(arc.to)) enter(arc.to);
  }
}
