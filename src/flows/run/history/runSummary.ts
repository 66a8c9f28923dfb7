import type { FlowOutcome } from '../protocol/outcome.ts';
import type { RunRecord } from './runRecord.ts';
import type { RunTimeline } from '../protocol/timeline.ts';

/** The part of a record that is known when a run has ended. */
export function summaryOf(
  [first]: readonly RunTimeline[],
  outcome: FlowOutcome,
): Pick<RunRecord, 'finishedAt' | 'name' | 'steps' | 'usage' | 'outcome'> {
  const { type } = outcome;
  return {
    finishedAt: new Date().toISOString(),
    ...(first !== undefined && { name: first.start.name, steps: first.steps.length, usage: { ...first.usage } }),
    outcome:
      type === 'done'
        ? { type, exitCode: outcome.exitCode, ...(outcome.action !== undefined && { action: outcome.action }) }
        : outcome,
  };
}
