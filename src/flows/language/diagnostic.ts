import type { FlowOperation } from '../graph/flowOperation.ts';
import type { FlowFile, FlowGraph, FlowNode, SourceRange, TextEdit } from '../graph/graph.ts';

type DiagnosticCode =
  | 'syntax' // the text does not parse
  | 'unread' // a part of the flow is only known at run time
  | 'no-start' // a run would fail at once
  | 'unconnected-action' // `post` can return it, and the flow would end there with a warning
  | 'replaced-connection' // a later one for the same action replaces it
  | 'unused-connection' // `post` never returns the action
  | 'unreachable-node' // no path leads there from the start
  | 'endless-cycle' // no path leads out
  | 'unwritten-key' // read on a path on which nothing has written it
  | 'unknown-provider' // `new LLMClient` would throw
  | 'unknown-model'; // the model's name matches no provider, or another one

export type Severity = 'error' | 'warning' | 'hint';

/** A fix for a diagnostic: an operation on the flow, or the edits themselves. */
export type Fix =
  | { readonly title: string; readonly operation: FlowOperation }
  | { readonly title: string; readonly edits: readonly TextEdit[] };

/** A problem in a flow, as data: what it is, where it is, and its fixes. */
export interface FlowDiagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** Problem, meaning, remedy. */
  readonly message: string;
  /** In the file that was read. */
  readonly range: SourceRange;
  readonly related: readonly { readonly message: string; readonly range: SourceRange }[];
  /** The likeliest first. */
  readonly fixes: readonly Fix[];
  /** The ids of the flow and the node, if it is about one. */
  readonly flow?: string;
  readonly node?: string;
}

/** A problem of the file rather than of one of its flows. */
export function fileFault(
  code: DiagnosticCode,
  severity: Severity,
  message: string,
  range: SourceRange,
  fixes: readonly Fix[] = [],
): FlowDiagnostic {
  return { code, severity, message, range, related: [], fixes };
}

/** The most problems that one rule reports in one flow. Nobody reads more, and computing their fixes takes time. */
export const MAX_FAULTS = 200;
/** The most positions or names in one problem. */
export const MAX_RELATED = 20;

/** The input of every rule: a flow of the file, with facts that are computed once. */
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

/** The position of a node in the file itself: its instance, or else a connection that names it. */
export function placeOfNode({ file, graph }: Examined, { id, ranges }: FlowNode): SourceRange {
  if (ranges.instance.file === file.file) return ranges.instance;
  const edges = graph.edges.filter(({ source, target }) => source === id || target === id);
  return edges.find(({ range }) => range.file === file.file)?.range ?? placeOfFlow(file, graph);
}

/** The position of a flow in the file itself; the beginning of the file if the flow is only used there. */
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
