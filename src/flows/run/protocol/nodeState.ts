import { addUsage, microsOf, NO_USAGE, type TimelineStep } from './timelineStep.ts';

/** A node at a moment of a run: how often it ran, and the state of its last visit. */
export interface NodeState extends Pick<TimelineStep, 'status' | 'usage' | 'retries' | 'said' | 'error'> {
  readonly visits: number;
  /** Microseconds of all visits together. */
  readonly micros: number;
  readonly lastAction: string | undefined;
}

/** A node after one more visit; `before` is undefined at the first. */
export function visited(before: NodeState | undefined, step: TimelineStep): NodeState {
  return {
    status: step.status,
    visits: (before?.visits ?? 0) + 1,
    micros: (before?.micros ?? 0) + microsOf(step),
    lastAction: step.action ?? before?.lastAction,
    usage: addUsage(before?.usage ?? NO_USAGE, step.usage),
    retries: (before?.retries ?? 0) + step.retries,
    ...(step.said !== undefined && { said: step.said }),
    error: step.error,
  };
}

/** One node whose visits were counted under two paths, of which `b` is the later one. */
export function mergeStates(a: NodeState, b: NodeState): NodeState {
  return {
    ...b,
    visits: a.visits + b.visits,
    micros: a.micros + b.micros,
    usage: addUsage(a.usage, b.usage),
    retries: a.retries + b.retries,
  };
}
