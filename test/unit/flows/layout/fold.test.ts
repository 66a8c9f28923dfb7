import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldLayout } from '../../../../src/flows/layout/fold.ts';
import { boxesOverlap } from '../../../../src/flows/layout/edgeLabels.ts';
import { layoutGraph } from '../../../../src/flows/layout/layoutGraph.ts';
import type { Box, LayoutGraph } from '../../../../src/flows/layout/shape.ts';

/** A chain with connections back; `back` has pairs of indexes. */
function chain(length: number, back: readonly (readonly [number, number])[] = []): LayoutGraph {
  const forward = Array.from({ length: length - 1 }, (_, index) => [index, index + 1] as const);
  return {
    nodes: Array.from({ length }, (_, index) => ({ id: `n${index}`, width: 216, height: 60 })),
    edges: [...forward, ...back].map(([from, to]) => ({
      id: `${from}-${to}`,
      from: `n${from}`,
      to: `n${to}`,
      labelWidth: 40,
    })),
  };
}

test('a long chain is wrapped into columns, in which no node, line end or label lies on another node', () => {
  const graph = chain(40, [
    [12, 10],
    [21, 5],
    [39, 0],
    [19, 20],
  ]);
  const flat = layoutGraph(graph);
  const folded = foldLayout(flat, graph);
  assert.ok(folded.height < flat.height / 2 && folded.width < 2_000, `${folded.width} × ${folded.height}`);
  const boxes = [...folded.nodes.values()];
  assert.equal(boxes.length, 40);
  for (const [index, box] of boxes.entries()) {
    for (const other of boxes.slice(index + 1)) assert.ok(!boxesOverlap(box, other), `${box.id} ${other.id}`);
  }
  for (const { id, from, to } of graph.edges) {
    const [edge, source, target] = [folded.edges.get(id), folded.nodes.get(from), folded.nodes.get(to)];
    const [first, last] = [edge?.points[0], edge?.points.at(-1)];
    assert.ok(edge && source && target && first && last);
    // Lines leave and arrive at a border of their nodes.
    assert.ok(touches(source, first) && touches(target, last), id);
    const label = { x: edge.label.x - 20, y: edge.label.y - 8, width: 40, height: 16 };
    assert.deepEqual(
      boxes.filter((box) => boxesOverlap(box, label)).map((box) => box.id),
      [],
      `label of ${id}`,
    );
  }
  const inBounds = (box: Box): boolean => box.x >= folded.x && box.x + box.width <= folded.x + folded.width;
  assert.ok(boxes.every(inBounds));
});

test('a short flow, a wide one, and one with nodes that were moved stay as they are', () => {
  const short = chain(5);
  const flat = layoutGraph(short);
  assert.equal(foldLayout(flat, short), flat);
  const long = chain(30);
  const moved = {
    ...long,
    nodes: long.nodes.map((node, index) => (index === 3 ? { ...node, movedTo: { x: 900, y: 0 } } : node)),
  };
  const withMoved = layoutGraph(moved);
  assert.equal(foldLayout(withMoved, moved), withMoved);
  // Ten chains beside each other, joined at their ends: nothing can be folded without cutting all of them.
  const nodes = Array.from({ length: 100 }, (_, index) => ({ id: `n${index}`, width: 216, height: 60 }));
  const edges = nodes.flatMap(({ id }, index) =>
    index < 90 ? [{ id, from: id, to: `n${index + 10}`, labelWidth: 0 }] : [],
  );
  const wide = layoutGraph({ nodes, edges });
  assert.equal(foldLayout(wide, { nodes, edges }), wide);
});

function touches(box: Box, { x, y }: { readonly x: number; readonly y: number }): boolean {
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}
