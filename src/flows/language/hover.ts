import type { FlowGraph, FlowNode, SourceRange } from '../graph/graph.ts';
import type { FlowReading } from '../reading/readSource.ts';

/** The neighbours of a node in one flow, for a hover or a tooltip. */
export interface NodeNeighbours {
  /** The word at the cursor. */
  readonly range: SourceRange;
  readonly flow: FlowGraph;
  readonly node: FlowNode;
  readonly isStart: boolean;
  readonly before: readonly { readonly label: string; readonly action: string }[];
  /** `label` is null for the end of the flow, undefined if the action is not connected. */
  readonly after: readonly { readonly label: string | null | undefined; readonly action: string }[];
}

const WORD = /[\p{ID_Continue}$#]/u;

/** The nodes that the word at an offset refers to, by the name of an instance or of a class; one entry for each flow. */
export function neighboursAt({ result, source }: FlowReading, offset: number): NodeNeighbours[] {
  if (result.isStale) return [];
  const { text } = source;
  let [start, end] = [offset, offset];
  while (start > 0 && WORD.test(text[start - 1] ?? '')) start -= 1;
  while (end < text.length && WORD.test(text[end] ?? '')) end += 1;
  const word = text.slice(start, end);
  if (word === '') return [];
  const range = source.rangeOf(start, end);
  return result.flows.flatMap((flow) => {
    const named = flow.nodes.filter(({ id }) => id === word || id.endsWith(`.${word}`));
    const nodes = named.length > 0 ? named : flow.nodes.filter(({ className }) => className === word);
    return nodes.map((node) => ({ range, ...neighboursOf(flow, node) }));
  });
}

function neighboursOf(flow: FlowGraph, node: FlowNode): Omit<NodeNeighbours, 'range'> {
  const labelOf = (id: string): string => flow.nodes.find((one) => one.id === id)?.label ?? id;
  const out = flow.edges.filter(({ source }) => source === node.id);
  const loose = node.actions.known.filter(({ action }) => !out.some((edge) => edge.action === action));
  return {
    flow,
    node,
    isStart: flow.start === node.id,
    before: flow.edges
      .filter(({ target }) => target === node.id)
      .map(({ source, action }) => ({ label: labelOf(source), action })),
    after: [
      ...out.map(({ target, action }) => ({ label: target === null ? null : labelOf(target), action })),
      ...loose.map(({ action }) => ({ label: undefined, action })),
    ],
  };
}
