import type { FlowFile, FlowGraph, FlowNode } from './graph.ts';

/** A unit of a running flow: a node in its graph, or (without a node) the outermost flow itself. */
export interface TracedUnit {
  readonly graph: FlowGraph;
  readonly node: FlowNode | undefined;
}

/**
 * Finds the unit that a trace event's `path` (`main/nested#2/Work`, `main/each[3]/Work`) names.
 *
 * Names may contain `/` and `#`, so the path is compared with labels instead of being split.
 * Undefined if the graph has no such node: the code has changed since, or could not be read completely.
 */
export function unitOfPath(file: Pick<FlowFile, 'flows'>, root: FlowGraph, path: string): TracedUnit | undefined {
  return unitsOfPath(file, root, path)?.at(-1);
}

/** All units along a trace event's `path`, from the outermost flow to the unit itself; see `unitOfPath`. */
export function unitsOfPath(
  { flows }: Pick<FlowFile, 'flows'>,
  root: FlowGraph,
  path: string,
): readonly TracedUnit[] | undefined {
  const rest = afterLabel(path, root.label);
  const outermost = { graph: root, node: undefined };
  if (rest === '') return [outermost];
  const below = rest === undefined ? undefined : unitsBelow(flows, root, rest);
  return below && [outermost, ...below];
}

function unitsBelow(flows: readonly FlowGraph[], graph: FlowGraph, path: string): TracedUnit[] | undefined {
  for (const node of graph.nodes) {
    const rest = afterLabel(path, node.label);
    if (rest === undefined) continue;
    if (rest === '') return [{ graph, node }];
    const inner = flows.find(({ id }) => id === node.flow);
    const units = inner === undefined ? undefined : unitsBelow(flows, inner, rest);
    if (units !== undefined) return [{ graph, node }, ...units];
  }
  return undefined;
}

/** The rest of a path after a label, its visit number and the number of an item: '' at the end, undefined if the path has another label. */
function afterLabel(path: string, label: string): string | undefined {
  if (!path.startsWith(label)) return undefined;
  const rest = path.slice(label.length);
  if (rest === '') return rest;
  return /^(?:#\d+)?(?:\[\d+\])?\/(.*)$/s.exec(rest)?.[1];
}
