import type { RunEvent } from './runEvent.ts';
import { applyChanges, type StateChange } from './stateChange.ts';
import type { StateView } from './stateView.ts';

type StepEvent<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** One visit of a node, or the end of a flow, whose `post` is a step of its own. Times are microseconds of the run. */
export interface TimelineStep {
  readonly type: 'node' | 'flow';
  readonly path: string;
  /** The name in its flow. */
  readonly node: string;
  readonly visit: number;
  readonly status: 'running' | 'done' | 'failed';
  readonly startedAt: number;
  readonly finishedAt?: number | undefined;
  /** As `post` returned it; absent when it returned none. */
  readonly action?: string | undefined;
  /** The name of the next node; null where the flow ended. */
  readonly next?: string | null | undefined;
  readonly isReplayed: boolean;
  /** In a replay: why `exec` ran although there was a recording. */
  readonly liveBecause?: StepEvent<'live'>['reason'] | undefined;
  readonly retries: number;
  readonly hasFallenBack: boolean;
  readonly usage: ModelUsage;
  readonly warnings: readonly string[];
  readonly error?: string | undefined;
  /** What the step changed in the shared state. */
  readonly changes: readonly StateChange[];
}

/** What calls of language models took. */
export interface ModelUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars by list price; calls without a known price count nothing. */
  readonly cost: number;
}

/** A node at a moment of a run. */
export interface NodeState {
  readonly status: TimelineStep['status'];
  readonly visits: number;
  /** Microseconds of all visits together. */
  readonly micros: number;
  readonly lastAction: string | undefined;
  readonly usage: ModelUsage;
  readonly error: string | undefined;
}

const NO_USAGE: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 };

/** The steps of one run, built from its events as they come; also while it runs. */
export class RunTimeline {
  readonly start: StepEvent<'run-start'>;
  readonly #steps: TimelineStep[] = [];
  readonly #latest = new Map<string, number>();
  readonly #flowStarts = new Map<string, number>();
  #end: StepEvent<'run-end'> | undefined;

  constructor(start: StepEvent<'run-start'>) {
    this.start = start;
  }

  get steps(): readonly TimelineStep[] {
    return this.#steps;
  }

  /** Undefined while it runs, and where its process was ended. */
  get end(): StepEvent<'run-end'> | undefined {
    return this.#end;
  }

  push(event: RunEvent): void {
    switch (event.type) {
      case 'run-start':
        return;
      case 'run-end':
        this.#end = event;
        return;
      case 'node-start':
        return this.#begin('node', event, event.at);
      case 'flow-start':
        this.#flowStarts.set(keyOf(event), event.at);
        return;
      case 'flow-end':
        this.#begin('flow', event, this.#flowStarts.get(keyOf(event)) ?? event.at);
        return this.#finish(event);
      case 'node-end':
        return this.#finish(event);
      case 'error':
        if (!this.#latest.has(keyOf(event))) this.#begin('flow', event, this.#flowStarts.get(keyOf(event)) ?? event.at);
        return this.#change(event, () => ({ status: 'failed', finishedAt: event.at, error: event.message }));
      case 'edge':
        return this.#change(event, () => ({ next: event.to }));
      case 'state':
        return this.#change(event, ({ changes }) => ({ changes: [...changes, ...event.changes] }));
      case 'live':
        return this.#change(event, () => ({ liveBecause: event.reason }));
      case 'retry':
        return this.#change(event, ({ retries }) => ({ retries: retries + 1 }));
      case 'fallback':
        return this.#change(event, () => ({ hasFallenBack: true }));
      case 'warning':
        return this.#change(event, ({ warnings }) => ({ warnings: [...warnings, event.message] }));
      case 'model':
        return this.#change(event, ({ usage }) => ({ usage: plus(usage, usageOf(event)) }));
      case 'attempt':
        return;
    }
  }

  /** The shared state after the step with this index; -1 is the beginning. */
  stateAfter(index: number): StateView {
    let state = this.start.state;
    for (const { changes } of this.#steps.slice(0, index + 1)) state = applyChanges(state, changes);
    return state;
  }

  /** The nodes as they were after the step with this index, by their path; those that were not visited yet are absent. */
  nodesAfter(index: number): ReadonlyMap<string, NodeState> {
    const nodes = new Map<string, NodeState>();
    for (const step of this.#steps.slice(0, index + 1)) {
      const before = nodes.get(step.path);
      nodes.set(step.path, {
        status: step.status,
        visits: (before?.visits ?? 0) + 1,
        micros: (before?.micros ?? 0) + (step.finishedAt ?? step.startedAt) - step.startedAt,
        lastAction: step.action ?? before?.lastAction,
        usage: plus(before?.usage ?? NO_USAGE, step.usage),
        error: step.error,
      });
    }
    return nodes;
  }

  /** All calls of language models of the run. */
  get usage(): ModelUsage {
    return this.#steps.reduce((sum, { usage }) => plus(sum, usage), NO_USAGE);
  }

  #begin(type: TimelineStep['type'], event: Place & { readonly node: string }, startedAt: number): void {
    const { path, node, visit } = event;
    this.#latest.set(keyOf(event), this.#steps.length);
    this.#steps.push({
      type,
      path,
      node,
      visit,
      status: 'running',
      startedAt,
      isReplayed: false,
      retries: 0,
      hasFallenBack: false,
      usage: NO_USAGE,
      warnings: [],
      changes: [],
    });
  }

  #finish({ path, visit, at, action, isReplayed }: StepEvent<'node-end' | 'flow-end'>): void {
    this.#change({ path, visit }, () => ({ status: 'done', finishedAt: at, action, isReplayed }));
  }

  #change(place: Place, change: (step: TimelineStep) => Partial<TimelineStep>): void {
    const index = this.#latest.get(keyOf(place));
    const step = index === undefined ? undefined : this.#steps[index];
    if (index !== undefined && step !== undefined) this.#steps[index] = { ...step, ...change(step) };
  }
}

interface Place {
  readonly path: string;
  readonly visit: number;
}

/** The timelines of all runs that events tell of, in their order. */
export function timelinesOf(events: Iterable<RunEvent>): readonly RunTimeline[] {
  const timelines = new Map<number, RunTimeline>();
  for (const event of events) {
    if (event.type === 'run-start') timelines.set(event.run, new RunTimeline(event));
    else timelines.get(event.run)?.push(event);
  }
  return [...timelines.values()];
}

/** The sum of two. */
function plus(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cost: a.cost + b.cost,
  };
}

function usageOf({ inputTokens = 0, outputTokens = 0, estimatedCost = 0 }: StepEvent<'model'>): ModelUsage {
  return { calls: 1, inputTokens, outputTokens, cost: estimatedCost };
}

function keyOf({ path, visit }: Place): string {
  return `${visit} ${path}`;
}
