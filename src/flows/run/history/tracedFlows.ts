import type { TraceEvent } from '../../../agents/records/trace.ts';
import { AppError } from '../../../core/errors.ts';
import type { FlowEdge, FlowFile, FlowGraph, FlowNode, SourceRange } from '../../graph/graph.ts';
import { readSpans, type TraceSpan } from './otlpSpans.ts';

const MODEL_OPERATIONS: ReadonlySet<unknown> = new Set(['chat', 'text_completion', 'generate_content', 'embeddings']);

// A deeper tree could not be drawn, and is no trace of an agent.
const MOST_LEVELS = 50;
const MOST_NODES = 2_000;
const NOWHERE = { offset: 0, line: 0, column: 0 };

/** A run of another program, read from its trace. */
export interface TracedRun {
  readonly id: string;
  /** The id of its graph. */
  readonly flow: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly error: string | undefined;
  readonly events: readonly TraceEvent[];
  /** The attributes of each step and of its calls as JSON, by its path and visit: `visit path`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The runs of a trace file, with graphs of the steps that they took. */
export interface TracedFlows {
  readonly file: FlowFile;
  /** The first runs of the trace. */
  readonly runs: readonly TracedRun[];
  /** How many more the trace has. */
  readonly omittedRuns: number;
}

const MOST_RUNS = 200;
// Of one step.
const MOST_ATTRIBUTE_CHARACTERS = 50_000;

/** A span with those below it. */
interface SpanNode {
  readonly span: TraceSpan;
  readonly kind: 'step' | 'model' | 'tool';
  /** Steps, also those below calls, in the order in which they began. */
  readonly steps: readonly SpanNode[];
  /** Calls of models and tools, also of those that are below other calls. */
  readonly calls: readonly SpanNode[];
}

interface GraphDraft {
  readonly nodes: Map<string, FlowNode>;
  readonly edges: Map<string, FlowEdge>;
  start: string | undefined;
}

/**
 * Reads a trace that another program exported, such as LangGraph or the OpenAI Agents SDK: each root span is a run, spans below it are
 * nodes, spans with steps below them are nested flows, and calls of models and tools belong to the node around them. A connection leads from
 * each step to those that began after it had ended.
 *
 * @throws AppError as `readSpans`, `bad-input` if no span is a root, and `limit` for more nodes than are drawn.
 */
export function readTrace(file: string, text: string): TracedFlows {
  const graphs = new TracedGraphs(file);
  const trees = spanTrees(readSpans(text));
  const roots = trees.slice(0, MOST_RUNS);
  if (roots.length === 0) {
    throw new AppError('bad-input', 'Each span of the trace is below another one, so it has no run. Export it again.');
  }
  const runs = roots.map((root, index) => new RunReader(graphs, root, index).run());
  return {
    file: {
      file,
      flows: graphs.all(),
      unread: [],
      models: [],
      syntaxError: undefined,
      isStale: false,
      dependencies: [],
    },
    runs,
    omittedRuns: trees.length - roots.length,
  };
}

/** Turns the spans of one root into the events of a run. */
class RunReader {
  readonly #graphs: TracedGraphs;
  readonly #root: SpanNode;
  readonly #index: number;
  readonly #events: TraceEvent[] = [];
  readonly #attributes: Record<string, string> = {};

  constructor(graphs: TracedGraphs, root: SpanNode, index: number) {
    this.#graphs = graphs;
    this.#root = root;
    this.#index = index;
  }

  run(): TracedRun {
    const { span } = this.#root;
    const flow = idOf(span.name);
    // A root without steps is itself the only step.
    const steps = this.#root.steps.length > 0 ? this.#root.steps : [{ ...this.#root, steps: [] }];
    const place = { path: flow, node: flow, visit: 1 };
    this.#events.push({ type: 'flow-start', ...place, at: 0 });
    if (this.#root.steps.length > 0) this.#calls(this.#root, place);
    this.#steps(flow, flow, steps);
    this.#finish('flow-end', span, place, undefined);
    return {
      id: `${this.#index + 1} ${span.traceId.slice(0, 32)}`,
      flow,
      startedAt: Number(span.startedAt / 1_000_000n),
      durationMs: Number(span.endedAt - span.startedAt) / 1e6,
      error: span.error,
      events: this.#events.toSorted((a, b) => a.at - b.at),
      attributes: this.#attributes,
    };
  }

  #steps(flow: string, path: string, steps: readonly SpanNode[]): void {
    const visits = new Map<string, number>();
    for (const [index, step] of steps.entries()) {
      const node = idOf(step.span.name);
      const visit = (visits.get(node) ?? 0) + 1;
      visits.set(node, visit);
      const inner = step.steps.length > 0 ? `${flow}/${node}` : undefined;
      this.#graphs.node(flow, node, inner);
      const next = steps[Math.max(index + 1, firstFrom(steps, step.span.endedAt))];
      const isBeside = next === undefined && index < steps.length - 1;
      const to = next === undefined ? null : idOf(next.span.name);
      const action = to === null ? 'end' : to;
      const place = { path: `${path}/${node}`, node, visit };
      this.#attributes[`${visit} ${place.path}`] = attributesOf(step);
      this.#events.push({
        type: inner === undefined ? 'node-start' : 'flow-start',
        ...place,
        at: this.#at(step.span.startedAt),
      });
      this.#calls(step, place);
      if (inner !== undefined) this.#steps(inner, visit > 1 ? `${place.path}#${visit}` : place.path, step.steps);
      this.#finish(inner === undefined ? 'node-end' : 'flow-end', step.span, place, action);
      if (step.span.error !== undefined || isBeside) continue;
      if (to !== null) this.#graphs.node(flow, to, undefined);
      this.#graphs.edge(flow, node, to, action);
      this.#events.push({ type: 'edge', ...place, at: this.#at(step.span.endedAt), action, to });
    }
  }

  #finish(type: 'node-end' | 'flow-end', span: TraceSpan, place: Place, action: string | undefined): void {
    const at = this.#at(span.endedAt);
    if (span.error !== undefined) {
      this.#events.push({ type: 'error', ...place, at, message: span.error });
      return;
    }
    const execMicros = Number(span.endedAt - span.startedAt) / 1_000;
    this.#events.push({ type, ...place, at, action, prepMicros: 0, execMicros, postMicros: 0, isReplayed: false });
  }

  #calls({ calls }: SpanNode, place: Place): void {
    for (const { kind, span } of calls) {
      const { attributes, error } = span;
      const at = this.#at(span.endedAt);
      const durationMs = Number(span.endedAt - span.startedAt) / 1e6;
      if (kind === 'tool') {
        const name = String(attributes.get('gen_ai.tool.name') ?? span.name);
        this.#events.push({ type: 'tool', ...place, at, name, durationMs, ...(error !== undefined && { error }) });
        continue;
      }
      const count = (name: string): number => Number(attributes.get(`gen_ai.usage.${name}_tokens`) ?? 0) || 0;
      this.#events.push({
        type: 'model',
        ...place,
        at,
        provider: String(attributes.get('gen_ai.provider.name') ?? attributes.get('gen_ai.system') ?? ''),
        model: String(attributes.get('gen_ai.response.model') ?? attributes.get('gen_ai.request.model') ?? ''),
        durationMs,
        inputTokens: count('input'),
        outputTokens: count('output'),
        retries: 0,
      });
    }
  }

  /** Microseconds since the root began. */
  #at(nanos: bigint): number {
    const since = nanos - this.#root.span.startedAt;
    return Number(since > 0n ? since : 0n) / 1_000;
  }
}

/** The index of the first of the steps, in the order in which they began, that began at a time or after it. */
function firstFrom(steps: readonly SpanNode[], time: bigint): number {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.span.startedAt ?? time) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The attributes of a step, and of the calls of models and tools in it, as JSON. */
function attributesOf({ span, calls }: SpanNode): string {
  const called = calls.map((call) => ({ name: call.span.name, ...Object.fromEntries(call.span.attributes) }));
  const all = { ...Object.fromEntries(span.attributes), ...(called.length > 0 && { calls: called }) };
  return JSON.stringify(all, undefined, 2).slice(0, MOST_ATTRIBUTE_CHARACTERS);
}

type Place = Pick<TraceEvent, 'path' | 'node' | 'visit'>;

/** A name as an id; in paths, `/` and `#` have a meaning of their own. */
function idOf(name: string): string {
  return name.replaceAll('/', '∕').replaceAll('#', '＃');
}

/** The trees of the spans, one for each root, in the order in which they began. A span whose parent is missing is a root. */
function spanTrees(spans: readonly TraceSpan[]): readonly SpanNode[] {
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

/** The graphs of all runs of a trace: nodes with the same names in the same place are one. */
class TracedGraphs {
  readonly #range: SourceRange;
  readonly #graphs = new Map<string, GraphDraft>();
  #nodes = 0;

  constructor(file: string) {
    this.#range = { file, start: NOWHERE, end: NOWHERE };
  }

  /** Adds a node. @throws AppError `limit` for more nodes than are drawn. */
  node(flow: string, name: string, inner: string | undefined): void {
    const graph = this.#graphOf(flow);
    const existing = graph.nodes.get(name);
    graph.start ??= name;
    if (existing !== undefined && (existing.flow !== undefined || inner === undefined)) return;
    this.#nodes += existing === undefined ? 1 : 0;
    if (this.#nodes > MOST_NODES) throw new AppError('limit', `The trace has more than ${MOST_NODES} different steps.`);
    graph.nodes.set(name, {
      id: name,
      label: name,
      className: name,
      type: inner === undefined ? 'node' : 'flow',
      summary: undefined,
      ranges: { instance: this.#range, class: undefined, prep: undefined, exec: undefined, post: undefined },
      actions: { known: [], unknown: undefined },
      reads: [],
      writes: [],
      unreadKeys: [],
      flow: inner,
    });
  }

  edge(flow: string, source: string, target: string | null, action: string): void {
    const id = `${source}/${action}`; // names have no slash
    const edge = { id, source, target, action, range: this.#range, actionRange: undefined };
    const { edges } = this.#graphOf(flow);
    if (!edges.has(id)) edges.set(id, edge);
  }

  all(): FlowGraph[] {
    return [...this.#graphs].map(([id, { nodes, edges, start }]) => ({
      id,
      label: id.split('/').at(-1) ?? id,
      className: 'Flow',
      summary: undefined,
      range: this.#range,
      start,
      nodes: [...nodes.values()],
      edges: [...edges.values()],
      runs: [],
      unread: [],
    }));
  }

  #graphOf(id: string): GraphDraft {
    const graph: GraphDraft = this.#graphs.get(id) ?? { nodes: new Map(), edges: new Map(), start: undefined };
    this.#graphs.set(id, graph);
    return graph;
  }
}
