import type { Arc, Vertex } from './vertices.ts';

/**
 * Marks the arcs that point back, so that the others form no cycle.
 *
 * An arc that pointed up or down in the earlier layout keeps its direction. The rest is found by a depth-first search from
 * the first vertex on, then from those that nothing leads to: an arc to a vertex that is still being explored points back.
 */
export function markBackArcs(vertices: readonly Vertex[], oldRow: (vertex: Vertex) => number | undefined): void {
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
