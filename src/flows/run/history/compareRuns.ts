import type { RunTimeline } from '../protocol/timeline.ts';
import type { TimelineStep } from '../protocol/timelineStep.ts';
import { changesBetween, type StateChange } from '../protocol/stateChange.ts';

/** Where two runs of a flow first differ. */
export interface Divergence {
  /** The index of the first step that differs. */
  readonly index: number;
  /**
   * `input`: they started with different states. `path`: they visited different nodes. `action`: the same node returned another
   * action. `state`: it left another state. `end`: it failed in one of them, or one run ended there.
   */
  readonly type: 'input' | 'path' | 'action' | 'state' | 'end';
  readonly before: TimelineStep | undefined;
  readonly after: TimelineStep | undefined;
  /** The changes from the first run's state after this step to the second's. */
  readonly changes: readonly StateChange[];
}

/** The first difference between two runs; undefined if there is none. Times, replays and retries do not count. */
export function compareRuns(before: RunTimeline, after: RunTimeline): Divergence | undefined {
  const atStart = changesBetween(before.stateAfter(-1), after.stateAfter(-1));
  if (atStart.length > 0) return { index: -1, type: 'input', before: undefined, after: undefined, changes: atStart };
  const length = Math.max(before.steps.length, after.steps.length);
  for (let index = 0; index < length; index += 1) {
    const [a, b] = [before.steps[index], after.steps[index]];
    const type = differenceOf(a, b);
    if (type === undefined) continue;
    const changes = changesBetween(before.stateAfter(index), after.stateAfter(index));
    return { index, type, before: a, after: b, changes };
  }
  return undefined;
}

function differenceOf(a: TimelineStep | undefined, b: TimelineStep | undefined): Divergence['type'] | undefined {
  if (a === undefined || b === undefined) return 'end';
  if (a.path !== b.path || a.visit !== b.visit) return 'path';
  if (a.status !== b.status || a.error !== b.error) return 'end';
  if (a.action !== b.action) return 'action';
  return JSON.stringify(a.changes) === JSON.stringify(b.changes) ? undefined : 'state';
}
