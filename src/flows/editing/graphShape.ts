import type { FlowEdge } from '../graph/graph.ts';

/** The shape of a flow: its start, and which node follows which action. */
export interface GraphShape {
  readonly start: string | undefined;
  /** The target of `source:action`; null for an end. */
  readonly edges: ReadonlyMap<string, string | null>;
}

type Exit = Pick<FlowEdge, 'source' | 'action' | 'target'>;

export function shapeOf({
  start,
  edges,
}: {
  readonly start: string | undefined;
  readonly edges: readonly Exit[];
}): GraphShape {
  return { start, edges: new Map(edges.map(({ source, action, target }) => [`${source}:${action}`, target])) };
}

/** Whether two flows run the same way. */
export function isSameShape(a: GraphShape, b: GraphShape): boolean {
  if (a.start !== b.start || a.edges.size !== b.edges.size) return false;
  return [...a.edges].every(([exit, target]) => b.edges.has(exit) && b.edges.get(exit) === target);
}
