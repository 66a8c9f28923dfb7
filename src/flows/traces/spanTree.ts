import type { TraceSpan } from './otlpSpans.ts';

/** A span with those below it. */
export interface SpanNode {
  readonly span: TraceSpan;
  readonly kind: 'step' | 'model' | 'tool';
  /** Steps, also those below calls, in the order in which they began. */
  readonly steps: readonly SpanNode[];
  /** Calls of models and tools, also of those that are below other calls. */
  readonly calls: readonly SpanNode[];
}

const MODEL_OPERATIONS: ReadonlySet<unknown> = new Set(['chat', 'text_completion', 'generate_content', 'embeddings']);
// A deeper tree could not be drawn, and is no trace of an agent.
const MOST_LEVELS = 50;

/** The trees of the spans, one for each root, in the order in which they began. A span whose parent is missing is a root. */
export function spanTrees(spans: readonly TraceSpan[]): readonly SpanNode[] {
  const byId = new Map(spans.map((span) => [keyOf(span.traceId, span.id), span]));
  const below = Map.groupBy([...byId.values()], ({ traceId, parent }) =>
    parent !== undefined && byId.has(keyOf(traceId, parent)) ? keyOf(traceId, parent) : undefined,
  );
  const build = (span: TraceSpan, level: number): SpanNode => {
    const children = level >= MOST_LEVELS ? [] : (below.get(keyOf(span.traceId, span.id)) ?? []);
    const nodes = children.toSorted(byStart).map((child) => build(child, level + 1));
    const calls = nodes.filter(({ kind }) => kind !== 'step');
    return {
      span,
      kind: kindOf(span),
      // An agent that a tool runs is a step of the agent that calls the tool.
      steps: nodes
        .flatMap((node) => (node.kind === 'step' ? [node] : node.steps))
        .toSorted((a, b) => byStart(a.span, b.span)),
      // A tool that calls a model has both.
      calls: calls.flatMap((call) => [call, ...call.calls]),
    };
  };
  // Spans that are their own ancestors have no root, and are left out.
  return (below.get(undefined) ?? []).toSorted(byStart).map((span) => build(span, 0));
}

function kindOf({ attributes }: TraceSpan): SpanNode['kind'] {
  const operation = attributes.get('gen_ai.operation.name');
  if (MODEL_OPERATIONS.has(operation)) return 'model';
  return operation === 'execute_tool' ? 'tool' : 'step';
}

function byStart(a: TraceSpan, b: TraceSpan): number {
  return a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0;
}

function keyOf(traceId: string, id: string): string {
  return `${traceId} ${id}`;
}
