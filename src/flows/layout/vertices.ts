import type { LayoutEdge, LayoutGraph, LayoutNode } from './shape.ts';

/** A node that takes part in the rows. */
export interface Vertex {
  readonly node: LayoutNode;
  readonly arcs: { readonly out: Arc[]; readonly in: Arc[] };
  row: number;
}

/** A connection between two different vertices. It is drawn upwards when it closes a cycle. */
export interface Arc {
  readonly edge: LayoutEdge;
  readonly from: Vertex;
  readonly to: Vertex;
  isBack: boolean;
}

/** Vertices in the order of the nodes. Moved nodes, their connections and connections of a node to itself stay outside. */
export function buildVertices({ nodes, edges }: LayoutGraph): { vertices: Vertex[]; arcs: Arc[] } {
  const byId = new Map<string, Vertex>();
  for (const node of nodes) {
    if (node.movedTo === undefined) byId.set(node.id, { node, arcs: { out: [], in: [] }, row: 0 });
  }
  const arcs: Arc[] = [];
  for (const edge of edges) {
    const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
    if (from === undefined || to === undefined || from === to) continue;
    const arc: Arc = { edge, from, to, isBack: false };
    from.arcs.out.push(arc);
    to.arcs.in.push(arc);
    arcs.push(arc);
  }
  return { vertices: [...byId.values()], arcs };
}

/** The end of an arc that lies higher on the page. */
export const upperOf = ({ from, to, isBack }: Arc): Vertex => (isBack ? to : from);

/** The end of an arc that lies lower on the page. */
export const lowerOf = ({ from, to, isBack }: Arc): Vertex => (isBack ? from : to);

/** The arcs that reach a vertex from above. */
export function* arcsAbove({ arcs }: Vertex): Generator<Arc> {
  for (const arc of arcs.in) if (!arc.isBack) yield arc;
  for (const arc of arcs.out) if (arc.isBack) yield arc;
}

/** The arcs that leave a vertex downwards. */
export function* arcsBelow({ arcs }: Vertex): Generator<Arc> {
  for (const arc of arcs.out) if (!arc.isBack) yield arc;
  for (const arc of arcs.in) if (arc.isBack) yield arc;
}
