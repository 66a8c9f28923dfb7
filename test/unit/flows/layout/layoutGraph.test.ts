import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countLineCrossings } from '../../../../bench/support/lineCrossings.ts';
import { syntheticFlow } from '../../../../bench/support/syntheticFlow.ts';
import { boxesOverlap } from '../../../../src/flows/layout/edgeLabels.ts';
import { layoutGraph } from '../../../../src/flows/layout/layoutGraph.ts';
import type { Layout, LayoutGraph, LayoutNode, PlacedNode } from '../../../../src/flows/layout/shape.ts';

const SIZE = { width: 200, height: 60 };
const node = (id: string, more: Partial<LayoutNode> = {}): LayoutNode => ({ id, ...SIZE, ...more });

/** `a>b` connects a to b; nodes are there in the order of their names' first use. */
function graphOf(...edges: readonly string[]): LayoutGraph {
  const ids = [...new Set(edges.flatMap((edge) => edge.split('>')))];
  return {
    nodes: ids.map((id) => node(id)),
    edges: edges.map((id) => {
      const [from = '', to = ''] = id.split('>');
      return { id, from, to, labelWidth: 40 };
    }),
  };
}

function synthetic(count: number, seed: number): LayoutGraph {
  const edges = syntheticFlow(count, seed).flatMap(({ source, target, action }, index) =>
    target === null ? [] : [{ id: `${index}`, from: `${source}`, to: `${target}`, labelWidth: action.length * 7 }],
  );
  return { nodes: Array.from({ length: count }, (_, id) => node(`${id}`)), edges };
}

function placeOf(layout: Layout, id: string): PlacedNode {
  const placed = layout.nodes.get(id);
  assert.ok(placed, `${id} has a place`);
  return placed;
}

function assertNothingOverlaps({ nodes }: Layout): void {
  const boxes = [...nodes.values()].sort((a, b) => a.y - b.y);
  boxes.forEach((box, index) => {
    for (const other of boxes.slice(index + 1)) {
      if (other.y >= box.y + box.height) break;
      assert.ok(!boxesOverlap(box, other), `${box.id} and ${other.id} overlap`);
    }
  });
}

/** Which of the nodes that both have lie elsewhere in the second layout. */
function movedNodes(before: Layout, after: Layout): string[] {
  return [...after.nodes.values()].flatMap(({ id, x, y }) => {
    const old = before.nodes.get(id);
    return old === undefined || (old.x === x && old.y === y) ? [] : [id];
  });
}

describe('the layout of a graph', () => {
  test('puts what follows below, and one successor straight below', () => {
    const layout = layoutGraph(graphOf('a>b', 'b>c'));
    const [a, b, c] = ['a', 'b', 'c'].map((id) => placeOf(layout, id));
    assert.ok(a && b && c && a.y + a.height < b.y && b.y + b.height < c.y);
    assert.deepEqual([b.x, c.x], [a.x, a.x]);
  });

  test('is the same for the same graph', () => {
    assert.deepEqual(layoutGraph(synthetic(300, 7)), layoutGraph(synthetic(300, 7)));
  });

  for (const count of [1, 2, 40, 200, 1_000]) {
    test(`lets no two of ${count} nodes overlap, and keeps every number finite`, () => {
      const graph = synthetic(count, count);
      const layout = layoutGraph(graph);
      assert.equal(layout.nodes.size, count);
      assert.equal(layout.edges.size, graph.edges.length);
      assertNothingOverlaps(layout);
      for (const { points, label } of layout.edges.values()) {
        for (const { x, y } of [...points, label]) assert.ok(Number.isFinite(x) && Number.isFinite(y));
      }
    });
  }

  test('has an empty graph take no room', () => {
    const { width, height } = layoutGraph({ nodes: [], edges: [] });
    assert.deepEqual([width, height], [0, 0]);
  });

  test('draws a ladder and a tree without a crossing', () => {
    for (const edges of [
      ['a>b', 'a>c', 'b>d', 'c>e', 'd>f', 'e>f'],
      ['a>b', 'a>c', 'a>d', 'b>e', 'b>f', 'c>g', 'd>h', 'd>i', 'd>j'],
    ]) {
      const graph = graphOf(...edges);
      const { edges: placed } = layoutGraph(graph);
      const lines = graph.edges.map(({ id, from, to }) => ({ from, to, points: placed.get(id)?.points ?? [] }));
      assert.equal(countLineCrossings(lines), 0);
    }
  });

  test('leads the connection that closes a cycle up, from border to border', () => {
    const layout = layoutGraph(graphOf('a>b', 'b>c', 'c>a'));
    const [a, c] = [placeOf(layout, 'a'), placeOf(layout, 'c')];
    assert.ok(a.y < c.y);
    const points = layout.edges.get('c>a')?.points ?? [];
    assert.equal(points[0]?.y, c.y);
    assert.equal(points.at(-1)?.y, a.y + a.height);
  });

  test('leads a connection of a node to itself round its side, clear of its neighbours', () => {
    const layout = layoutGraph(graphOf('a>b', 'a>c', 'b>b', 'b>d', 'c>d'));
    const reach = Math.max(...(layout.edges.get('b>b')?.points ?? []).map(({ x }) => x));
    const [b, c] = [placeOf(layout, 'b'), placeOf(layout, 'c')];
    assert.ok(reach > b.x + b.width);
    assert.ok(c.x < b.x || reach < c.x);
  });

  test('leads long connections past the nodes of the rows between', () => {
    const layout = layoutGraph(synthetic(200, 3));
    for (const { points } of layout.edges.values()) {
      points.slice(1).forEach((to, index) => {
        const from = points[index];
        if (from === undefined || from.x !== to.x) return;
        const line = { x: from.x, y: Math.min(from.y, to.y), width: 0, height: Math.abs(from.y - to.y) };
        for (const box of layout.nodes.values()) {
          assert.ok(!boxesOverlap(line, box), `a connection runs through node ${box.id}`);
        }
      });
    }
  });

  test('gives a handler that a thousand nodes lead to one shared line', () => {
    const chain = Array.from({ length: 1_000 }, (_, index) => [`${index}>${index + 1}`, `${index}>failed`]).flat();
    const layout = layoutGraph(graphOf(...chain));
    assert.ok(layout.bends.size < 1_100, `${layout.bends.size} bends`);
  });

  test('keeps the labels of one node apart', () => {
    const graph = graphOf('a>b', 'a>c', 'a>d', 'a>e');
    const layout = layoutGraph(graph);
    const labels = graph.edges.map(({ id }) => layout.edges.get(id)?.label ?? { x: 0, y: 0 });
    const boxes = labels.map(({ x, y }) => ({ x: x - 20, y: y - 9, width: 40, height: 18 }));
    boxes.forEach((box, index) => boxes.slice(index + 1).forEach((other) => assert.ok(!boxesOverlap(box, other))));
  });
});

describe('a layout that follows an earlier one', () => {
  test('does not change when the graph did not', () => {
    const graph = synthetic(200, 5);
    const before = layoutGraph(graph);
    assert.deepEqual(layoutGraph(graph, before), before);
  });

  test('moves nothing for a new connection, whichever nodes it joins', () => {
    const graph = synthetic(60, 11);
    const before = layoutGraph(graph);
    for (let index = 0; index < 50; index += 1) {
      const [from, to] = [`${(index * 7) % 60}`, `${(index * 13 + 5) % 60}`];
      if (before.nodes.get(from)?.row === before.nodes.get(to)?.row) continue; // one of them has to go lower
      const after = layoutGraph({ ...graph, edges: [...graph.edges, { id: 'new', from, to, labelWidth: 30 }] }, before);
      assert.deepEqual(movedNodes(before, after), []);
      assertNothingOverlaps(after);
    }
  });

  test('moves nothing for a node that is added at an end, and puts it straight below where there is room', () => {
    const before = layoutGraph(graphOf('a>b', 'a>c'));
    const after = layoutGraph(graphOf('a>b', 'a>c', 'c>d'), before);
    assert.deepEqual(movedNodes(before, after), []);
    assert.equal(placeOf(after, 'd').x, placeOf(after, 'c').x);
    assertNothingOverlaps(after);
  });

  test('moves only what follows down for a node that is put in between', () => {
    const before = layoutGraph(graphOf('a>b', 'b>c', 'a>x', 'x>y'));
    const after = layoutGraph(graphOf('a>b', 'b>n', 'n>c', 'a>x', 'x>y'), before);
    assert.deepEqual(movedNodes(before, after), ['c']);
    assert.equal(placeOf(after, 'c').x, placeOf(before, 'c').x);
    assertNothingOverlaps(after);
  });

  test('comes back to the same picture when a change is undone', () => {
    const graph = graphOf('a>b', 'b>c', 'c>a', 'a>d');
    const before = layoutGraph(graph);
    const between = layoutGraph(graphOf('a>b', 'b>c', 'c>a', 'a>d', 'd>e', 'd>f'), before);
    assert.deepEqual(movedNodes(before, layoutGraph(graph, between)), []);
  });

  test('puts a new start above, without moving what was there', () => {
    const before = layoutGraph(graphOf('b>c', 'c>d'));
    const after = layoutGraph(graphOf('a>b', 'b>c', 'c>d'), before);
    assert.deepEqual(movedNodes(before, after), []);
    assert.ok(placeOf(after, 'a').y < placeOf(after, 'b').y);
    assert.ok(after.y < 0);
  });

  test('makes room beside a node that grows, and no more than it needs', () => {
    const graph = graphOf('a>b', 'a>c', 'a>d');
    const before = layoutGraph(graph);
    const nodes = graph.nodes.map((each) => (each.id === 'c' ? { ...each, width: 500, height: 300 } : each));
    const after = layoutGraph({ ...graph, nodes }, before);
    assertNothingOverlaps(after);
    assert.equal(placeOf(after, 'a').x, placeOf(before, 'a').x);
  });

  test('leaves a node where a person has put it, and puts no new node on it', () => {
    const graph = graphOf('a>b');
    const before = layoutGraph(graph);
    const { x, y } = placeOf(before, 'b');
    const nodes = [...graph.nodes, node('sticky', { movedTo: { x: x + 240, y: y + 10 } }), node('c'), node('d')];
    const edges = [...graph.edges, ...graphOf('a>c', 'a>d', 'sticky>b').edges];
    const after = layoutGraph({ nodes, edges }, before);
    assert.deepEqual([placeOf(after, 'sticky').x, placeOf(after, 'sticky').y], [x + 240, y + 10]);
    assertNothingOverlaps(after);
    assert.equal(after.edges.size, 4);
  });

  test('lays a graph out anew that has little in common with the earlier one', () => {
    const before = layoutGraph(graphOf('a>b'));
    const graph = graphOf('a>p', 'p>q', 'p>r', 'q>s', 'r>s');
    assert.deepEqual(layoutGraph(graph, before), layoutGraph(graph));
  });

  test('through hundreds of edits nothing overlaps, and nothing goes sideways that stays in its row', () => {
    let graph = synthetic(30, 21);
    let layout = layoutGraph(graph);
    for (let round = 0; round < 400; round += 1) {
      const next = edited(graph, round);
      const after = layoutGraph(next, layout);
      assertNothingOverlaps(after);
      assert.equal(after.edges.size, next.edges.length, `round ${round}`);
      for (const { id, x, y, row } of after.nodes.values()) {
        const old = layout.nodes.get(id);
        if (old === undefined) continue;
        // A node that now has to lie in another row may find its place there taken.
        if (old.row === row && old.y === y) assert.equal(x, old.x, `round ${round}: ${id} went sideways`);
      }
      graph = next;
      layout = after;
    }
  });
});

/** One of the edits that people make, the same for the same round. */
function edited({ nodes, edges }: LayoutGraph, round: number): LayoutGraph {
  const pick = (salt: number): string => nodes[(round * 7919 + salt * 104_729) % nodes.length]?.id ?? '';
  const connect = (from: string, to: string): LayoutGraph['edges'][number] => ({
    id: `e${round} ${to}`,
    from,
    to,
    labelWidth: 30,
  });
  switch (round % 5) {
    case 0:
      return { nodes: [...nodes, node(`new${round}`)], edges: [...edges, connect(pick(1), `new${round}`)] };
    case 1:
      return { nodes, edges: [...edges, connect(pick(2), pick(3))] };
    case 2:
      return { nodes, edges: edges.toSpliced((round * 31) % edges.length, 1) };
    case 3: {
      const split = edges[(round * 17) % edges.length];
      if (split === undefined) return { nodes, edges };
      const between = `between${round}`;
      const rest = edges.filter((edge) => edge !== split);
      return {
        nodes: [...nodes, node(between)],
        edges: [...rest, connect(split.from, between), connect(between, split.to)],
      };
    }
    default: {
      const gone = pick(4);
      return {
        nodes: nodes.filter(({ id }) => id !== gone),
        edges: edges.filter(({ from, to }) => from !== gone && to !== gone),
      };
    }
  }
}
