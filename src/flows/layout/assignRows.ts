import { arcsAbove, arcsBelow, lowerOf, upperOf, type Vertex } from './vertices.ts';

/**
 * Assigns each vertex a row: below everything that leads to it, and otherwise where it was.
 *
 * New vertices go as high as possible, and then down again: those that the first vertex does not lead to as far as possible,
 * others if that shortens more connections than it lengthens. Empty rows are removed.
 *
 * Returns the number that each row, from the top, had before that: a vertex with the same number in the earlier layout has stayed.
 */
export function assignRows(
  vertices: readonly Vertex[],
  oldRow: (vertex: Vertex) => number | undefined,
): readonly number[] {
  const order = topologicalOrder(vertices);
  const isNew = new Set<Vertex>();
  for (const vertex of order) {
    const rows = [...arcsAbove(vertex)].map((arc) => upperOf(arc).row + 1);
    const old = oldRow(vertex);
    if (old === undefined) isNew.add(vertex);
    vertex.row = maximum(old === undefined ? rows : [...rows, old]) ?? rowAbove(vertex, oldRow) ?? 0;
  }
  const led = new Set(vertices.slice(0, 1));
  for (const vertex of order) if (led.has(vertex)) for (const arc of arcsBelow(vertex)) led.add(lowerOf(arc));
  for (const vertex of order.reverse())
    if (isNew.has(vertex) && vertex !== vertices[0]) moveDown(vertex, led.has(vertex));
  return closeEmptyRows(vertices);
}

function topologicalOrder(vertices: readonly Vertex[]): Vertex[] {
  const waiting = new Map(vertices.map((vertex) => [vertex, [...arcsAbove(vertex)].length]));
  const order = vertices.filter((vertex) => waiting.get(vertex) === 0);
  for (const vertex of order) {
    for (const arc of arcsBelow(vertex)) {
      const next = lowerOf(arc);
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) order.push(next);
    }
  }
  return order;
}

/** For a new vertex that leads to old ones only: above them, so that they stay. */
function rowAbove(vertex: Vertex, oldRow: (vertex: Vertex) => number | undefined): number | undefined {
  const rows = [...arcsBelow(vertex)].flatMap((arc) => oldRow(lowerOf(arc)) ?? []);
  return rows.length === 0 ? undefined : Math.min(...rows) - 1;
}

function moveDown(vertex: Vertex, isLed: boolean): void {
  const below = [...arcsBelow(vertex)];
  if (below.length === 0 || (isLed && below.length <= [...arcsAbove(vertex)].length)) return;
  vertex.row = below.reduce((row, arc) => Math.min(row, lowerOf(arc).row - 1), Infinity);
}

function closeEmptyRows(vertices: readonly Vertex[]): readonly number[] {
  const rows = [...new Set(vertices.map(({ row }) => row))].sort((a, b) => a - b);
  const first = rows[0] ?? 0;
  const closed = new Map(rows.map((row, index) => [row, first + index]));
  for (const vertex of vertices) vertex.row = closed.get(vertex.row) ?? vertex.row;
  return rows;
}

function maximum(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((a, b) => Math.max(a, b));
}
