import type { RunTimeline } from '../protocol/timeline.ts';
import { inLaneOrder } from './laneOrder.ts';
import type { TimelineStep } from '../protocol/timelineStep.ts';
import { changesBetween } from '../protocol/stateChange.ts';

/** Where two runs of a flow first differ. */
export interface Divergence {
  /** The index of the first step that differs; -1 if the runs started with different states. */
  readonly index: number;
  readonly reason: string;
}

/**
 * The first difference between two runs; undefined if there is none, as far as both traces go. Times, replays and retries do not count.
 */
export function compareRuns(before: RunTimeline, after: RunTimeline): Divergence | undefined {
  if (changesBetween(before.stateAfter(-1), after.stateAfter(-1)).length > 0) {
    return { index: -1, reason: 'The runs started with different shared states.' };
  }
  const [a, b] = [inLaneOrder(before.steps), inLaneOrder(after.steps)];
  // Which steps of a fast loop were watched depends on timing.
  const isSampled = before.isSampled || after.isSampled;
  const ends = [...(before.isCutShort ? [a.length] : []), ...(after.isCutShort ? [b.length] : [])];
  for (let at = 0; at < Math.min(Math.max(a.length, b.length), ...ends); at += 1) {
    const [step, reason] = [b[at], differenceOf(a[at], b[at]) ?? (isSampled ? undefined : changeOf(a[at], b[at]))];
    if (reason !== undefined) return { index: step === undefined ? b.length : after.steps.indexOf(step), reason };
  }
  if (!isSampled || ends.length > 0) return undefined;
  const [last, otherLast] = [before.stateAfter(a.length), after.stateAfter(b.length)];
  return changesBetween(last, otherLast).length === 0
    ? undefined
    : { index: b.length - 1, reason: 'The runs ended with different shared states.' };
}

function differenceOf(a: TimelineStep | undefined, b: TimelineStep | undefined): string | undefined {
  if (a === undefined || b === undefined) return `One run ended; the other continued with ${(a ?? b)?.path}.`;
  if (a.path !== b.path || a.visit !== b.visit) return `One run continued with ${a.path}, the other with ${b.path}.`;
  if (a.status !== b.status || a.error !== b.error) {
    return `${b.path} ended differently: ${endOf(a)} and ${endOf(b)}.`;
  }
  if (a.action !== b.action) {
    return `${b.path} returned "${a.action ?? 'default'}" in one run and "${b.action ?? 'default'}" in the other.`;
  }
  return undefined;
}

function changeOf(a: TimelineStep | undefined, b: TimelineStep | undefined): string | undefined {
  const isSame = JSON.stringify(a?.changes) === JSON.stringify(b?.changes);
  return isSame ? undefined : `${b?.path} left a different shared state.`;
}

function endOf({ status, error }: TimelineStep): string {
  if (error !== undefined) return error.replace(/\.$/, '');
  if (status === 'running') return 'not ended';
  return status === 'waiting' ? 'waits for an answer' : 'done';
}
