import type { TimelineStep } from '../protocol/timelineStep.ts';

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
