import type { FlowOperation } from '../graph/flowOperation.ts';
import type { FlowFile, FlowGraph, FlowNode, SourceRange, TextEdit } from '../graph/graph.ts';

type DiagnosticCode =
  | 'syntax' // the text does not parse
  | 'unread' // something that only a run can tell hides a part of the flow
  | 'no-start' // a run would fail at once
  | 'unconnected-action' // `post` can return it, and the flow would end there with a warning
  | 'unused-connection' // `post` never returns the action
  | 'unreachable-node' // no way leads there from the start
  | 'endless-cycle' // no way leads out
  | 'unwritten-key' // read on a way on which nothing has written it
  | 'unknown-provider' // `new LLMClient` would throw
  | 'unknown-model'; // the model belongs to no provider, or to another one

export type Severity = 'error' | 'warning' | 'hint';

/** A way to mend what a diagnostic tells: an operation on the flow, or the edits themselves. */
export type Fix =
  | { readonly title: string; readonly operation: FlowOperation }
  | { readonly title: string; readonly edits: readonly TextEdit[] };

/** A fault in a flow, as data: what it is, where, and what can be done. */
export interface FlowDiagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** What is wrong, what it means, what to do. */
  readonly message: string;
  /** In the file that was read. */
  readonly range: SourceRange;
  readonly related: readonly { readonly message: string; readonly range: SourceRange }[];
  /** The likeliest first. */
  readonly fixes: readonly Fix[];
  /** The ids of the flow and the node, where it is about one. */
  readonly flow?: string;
  readonly node?: string;
}

/** How many faults one rule lists in one flow. More are not read by anybody, and each costs its fixes. */
export const MAX_FAULTS = 200;
/** How many places or names one fault lists. */
export const MAX_RELATED = 20;

/** What every rule is given: a flow of the file, and what was found out about it once. */
export interface Examined {
  readonly file: FlowFile;
  readonly graph: FlowGraph;
  /** The ids of the nodes that can be reached from the start. */
  readonly reached: ReadonlySet<string>;
}

export function examine(file: FlowFile, graph: FlowGraph): Examined {
  const reached = new Set(graph.start === undefined ? [] : [graph.start]);
  const targets = Map.groupBy(graph.edges, ({ source }) => source);
  for (const id of reached) {
    for (const { target } of targets.get(id) ?? []) if (target !== null) reached.add(target);
  }
  return { file, graph, reached };
}

/** Where a node stands in the file itself: its instance, or else a connection that names it. */
export function placeOfNode({ file, graph }: Examined, { id, ranges }: FlowNode): SourceRange {
  if (ranges.instance.file === file.file) return ranges.instance;
  const edges = graph.edges.filter(({ source, target }) => source === id || target === id);
  return edges.find(({ range }) => range.file === file.file)?.range ?? placeOfFlow(file, graph);
}

/** Where a flow stands in the file itself; the beginning for one that is only used there. */
export function placeOfFlow({ file }: FlowFile, { range, edges }: FlowGraph): SourceRange {
  const start = { offset: 0, line: 0, column: 0 };
  if (range.file === file) return range;
  return edges.find((edge) => edge.range.file === file)?.range ?? { file, start, end: start };
}

/** A literal without its quotes, so that an edit keeps them. */
export function insideQuotes({ file, start, end }: SourceRange): SourceRange {
  const moved = ({ offset, line, column }: SourceRange['start'], by: number): SourceRange['start'] => ({
    offset: offset + by,
    line,
    column: column + by,
  });
  return { file, start: moved(start, 1), end: moved(end, -1) };
}
