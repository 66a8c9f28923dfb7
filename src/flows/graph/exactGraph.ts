import { type GraphNode, graphNodes } from '../../agents/graph/unit.ts';
import { NODE_TYPES } from './graph.ts';

/** The graph of a flow after its code has run: exact, but without positions in the source. */
export interface ExactGraph {
  readonly label: string;
  readonly className: string;
  readonly start: string | undefined;
  /** In the order in which the flow first used them. */
  readonly nodes: readonly ExactNode[];
  readonly edges: readonly { readonly source: string; readonly action: string; readonly target: string | null }[];
}

export interface ExactNode {
  readonly label: string;
  readonly className: string;
  /** The class of the library that it extends. */
  readonly library: string;
  /** The graph of a nested flow; undefined for a flow that contains itself. */
  readonly flow: ExactGraph | undefined;
}

interface Graph {
  readonly start: GraphNode | undefined;
  readonly all: readonly GraphNode[];
}

/**
 * The graph of a `Flow` object of `farwharf/agents`, also of another copy of that library. Undefined for anything else.
 */
export function graphOfFlow(flow: object, outer: readonly object[] = []): ExactGraph | undefined {
  const existing = graphOf(flow);
  if (existing === undefined || outer.includes(flow)) return undefined;
  const { start, all } = existing;
  return {
    label: String(Reflect.get(flow, 'name')),
    className: flow.constructor.name,
    start: start?.label,
    nodes: all.map(({ label, unit }) => ({
      label,
      className: unit.constructor.name,
      library: libraryOf(unit),
      flow: graphOfFlow(unit, [...outer, flow]),
    })),
    edges: all.flatMap((node) =>
      node.actions.map((action) => ({ source: node.label, action, target: node.exit(action)?.label ?? null })),
    ),
  };
}

function graphOf(flow: object): Graph | undefined {
  const nodes: unknown = Reflect.get(flow, graphNodes);
  return isGraph(nodes) ? nodes : undefined;
}

function isGraph(value: unknown): value is Graph {
  return typeof value === 'object' && value !== null && 'all' in value;
}

/** Compares names of classes, because a file may bring its own copy of the library. */
function libraryOf(unit: object): string {
  const parent: unknown = Object.getPrototypeOf(unit);
  if (typeof parent !== 'object' || parent === null) return 'BaseNode';
  const { name } = parent.constructor;
  return Object.hasOwn(NODE_TYPES, name) ? name : libraryOf(parent);
}
