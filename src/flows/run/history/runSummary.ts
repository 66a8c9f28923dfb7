import type { FlowOutcome } from '../protocol/outcome.ts';
import { mainTimeline, type RunTimeline } from '../protocol/timeline.ts';
import { addUsage, NO_USAGE } from '../protocol/timelineStep.ts';
import type { RunRecord } from './runRecord.ts';

// A file can run a flow in a loop.
const MAX_OTHERS = 20;

/** The part of a record that is known when a run has ended; steps and usage are those of all flows that the file ran. */
export function summaryOf(
  timelines: readonly RunTimeline[],
  outcome: FlowOutcome,
  flowName?: string,
): Pick<RunRecord, 'finishedAt' | 'name' | 'others' | 'steps' | 'usage' | 'outcome'> {
  const { type } = outcome;
  const main = mainTimeline(timelines, flowName);
  const others = timelines.filter((timeline) => timeline !== main).map(({ start }) => start.name);
  return {
    finishedAt: new Date().toISOString(),
    ...(main !== undefined && {
      name: main.start.name,
      steps: timelines.reduce((sum, { steps }) => sum + steps.length, 0),
      usage: { ...timelines.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE) },
    }),
    ...(others.length > 0 && { others: others.slice(0, MAX_OTHERS) }),
    outcome:
      type === 'done'
        ? { type, exitCode: outcome.exitCode, ...(outcome.action !== undefined && { action: outcome.action }) }
        : outcome,
  };
}
