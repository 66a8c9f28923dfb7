import type { FlowFile, FlowGraph, FlowNode } from './graph.ts';

/** A unit of a running flow: a node in its graph, or (without a node) the outermost flow itself. */
export interface TracedUnit {
  readonly graph: FlowGraph;
  readonly node: FlowNode | undefined;
}

/**
 * Finds what a trace event's `path` (`main/nested#2/Work`) names, from the outermost flow on.
 *
 * Names may hold `/` and `#` themselves, so the path is compared with the labels rather than split.
 * Undefined where the graph has no such node: the code has changed since, or a part of it could not be read.
 */
export function unitOfPath({ flows }: Pick<FlowFile, 'flows'>, root: FlowGraph, path: string): TracedUnit | undefined {
  const rest = afterLabel(path, root.label);
  if (rest === '') return { graph: root, node: undefined };
  return rest === undefined ? undefined : unitBelow(flows, root, rest);
}

function unitBelow(flows: readonly FlowGraph[], graph: FlowGraph, path: string): TracedUnit | undefined {
  for (const node of graph.nodes) {
    const rest = afterLabel(path, node.label);
    if (rest === undefined) continue;
    if (rest === '') return { graph, node };
    const inner = flows.find(({ id }) => id === node.flow);
    const unit = inner === undefined ? undefined : unitBelow(flows, inner, rest);
    if (unit !== undefined) return unit;
  }
  return undefined;
}

/** What follows a label and the number of its visit in a path: '' at the end, undefined where it is another label. */
function afterLabel(path: string, label: string): string | undefined {
  if (!path.startsWith(label)) return undefined;
  const rest = path.slice(label.length);
  if (rest === '') return rest;
  return /^(?:#\d+)?\/(.*)$/s.exec(rest)?.[1];
}
