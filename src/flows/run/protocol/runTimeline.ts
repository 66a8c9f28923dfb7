import { type NodeState, visited } from './nodeState.ts';
import type { RunEvent } from './runEvent.ts';
import { applyChanges } from './stateChange.ts';
import type { StateView } from './stateView.ts';
import { addUsage, visitKey, type ModelUsage, NO_USAGE, StepReducer, type TimelineStep } from './timelineStep.ts';

type RunStart = Extract<RunEvent, { type: 'run-start' }>;
type RunEnd = Extract<RunEvent, { type: 'run-end' }>;

/** The steps of one run, built from its events as they arrive; also while it runs. */
export class RunTimeline {
  readonly start: RunStart;
  readonly #reducer = new StepReducer();
  readonly #steps: TimelineStep[] = [];
  /** Where the step of a visit is in `#steps`. */
  readonly #indexes = new Map<string, number>();
  #end: RunEnd | undefined;
  #isSampled = false;

  constructor(start: RunStart) {
    this.start = start;
  }

  /** In the order in which they began. A flow comes after its nodes, because its `post` runs last. */
  get steps(): readonly TimelineStep[] {
    return this.#steps;
  }

  /** Undefined while the run continues, and if its process was killed. */
  get end(): RunEnd | undefined {
    return this.#end;
  }

  /** Whether the trace was full before the run ended, so that steps are missing. */
  get isCutShort(): boolean {
    return this.#end?.dropped !== undefined;
  }

  /** Whether the changes of some steps are reported with those of a later one, as in a fast loop. */
  get isSampled(): boolean {
    return this.#isSampled;
  }

  push(event: RunEvent): void {
    if (event.type === 'run-end') this.#end = event;
    if (event.type === 'run-start' || event.type === 'run-end') return;
    if (event.type === 'state' && event.skipped !== undefined) this.#isSampled = true;
    const step = this.#reducer.push(event);
    if (step === undefined || (step.type === 'flow' && step.status === 'running')) return;
    const key = visitKey(step);
    const index = this.#indexes.get(key) ?? this.#steps.length;
    this.#indexes.set(key, index);
    this.#steps[index] = step;
  }

  /** The shared state after the step with this index; -1 is the beginning. */
  stateAfter(index: number): StateView {
    let state = this.start.state;
    for (const { changes } of this.#steps.slice(0, index + 1)) state = applyChanges(state, changes);
    return state;
  }

  /** The nodes after the step with this index, by path; nodes that were not visited yet are absent. */
  nodesAfter(index: number): ReadonlyMap<string, NodeState> {
    const nodes = new Map<string, NodeState>();
    for (const step of this.#steps.slice(0, index + 1)) nodes.set(step.path, visited(nodes.get(step.path), step));
    return nodes;
  }

  /** All calls of language models in the run. */
  get usage(): ModelUsage {
    return this.#steps.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  }
}

/** The timelines of all runs that the events report, in their order. */
export function timelinesOf(events: Iterable<RunEvent>): readonly RunTimeline[] {
  const timelines = new Map<number, RunTimeline>();
  for (const event of events) {
    if (event.type === 'run-start') timelines.set(event.run, new RunTimeline(event));
    else timelines.get(event.run)?.push(event);
  }
  return [...timelines.values()];
}

/** The timeline of the flow that was asked for, or else of the first. */
export function mainTimeline(timelines: readonly RunTimeline[], flowName: string | undefined): RunTimeline | undefined {
  return timelines.find(({ start }) => start.name === flowName) ?? timelines[0];
}

/**
 * The steps in an order that does not depend on timing: what ran beside each other is sorted by item or branch, and all else stays in the
 * order in which it began.
 */
export function inLaneOrder(steps: readonly TimelineStep[], depth = 0): readonly TimelineStep[] {
  const ordered: TimelineStep[] = [];
  let beside: TimelineStep[] = [];
  const flush = (): void => {
    const lanes = [...Map.groupBy(beside, ({ lane }) => lane?.[depth] ?? 0)].sort(([a], [b]) => a - b);
    for (const [, lane] of lanes) ordered.push(...inLaneOrder(lane, depth + 1));
    beside = [];
  };
  for (const step of steps) {
    if ((step.lane?.length ?? 0) > depth) beside.push(step);
    else {
      flush();
      ordered.push(step);
    }
  }
  flush();
  return ordered;
}
