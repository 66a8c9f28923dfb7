import * as l10n from '@vscode/l10n';
import type { FlowGraph } from '../../../flows/graph/graph.ts';
import { describeRunReason, unendedState } from '../../../flows/run/history/describeRun.ts';
import type { RunRecord } from '../../../flows/run/history/runRecord.ts';
import type { RunInfo } from '../../../webview/canvas/state/canvasMessages.ts';

/** A recorded run for the canvas that is not in progress in this window. One without an end runs elsewhere, or was stopped when its window closed. */
export function infoOf(record: RunRecord, flows: readonly FlowGraph[]): RunInfo {
  const { id, flow, name, startedAt, finishedAt, outcome, job, answeredBy, replayOf } = record;
  const graph = flows.find((one) => one.id === flow) ?? flows.find(({ label }) => label === name);
  const started = Date.parse(startedAt);
  const isWaiting = outcome?.type === 'waiting' && answeredBy === undefined;
  const unended = outcome === undefined ? unendedState(record) : undefined;
  const isElsewhere = unended === 'running' || unended === 'unknown';
  const where =
    unended === 'unknown'
      ? l10n.t('Started on another machine, and may still run there')
      : l10n.t('Runs in another window or a terminal');
  return {
    id,
    flow: graph?.id ?? flow ?? name ?? '',
    state: isElsewhere ? 'running' : stateOf(record),
    startedAt: started,
    durationMs: finishedAt === undefined ? undefined : Date.parse(finishedAt) - started,
    remote: job,
    message: outcome === undefined ? (isElsewhere ? where : undefined) : describeRunReason(outcome),
    ...(isElsewhere && { isElsewhere }),
    ...(replayOf !== undefined && { replayOf }),
    ...(isWaiting && { pause: outcome }),
    isRecorded: true,
  };
}

function stateOf({ outcome, answeredBy }: RunRecord): RunInfo['state'] {
  if (outcome === undefined || outcome.type === 'stopped') return 'stopped';
  if (outcome.type === 'waiting') return answeredBy === undefined ? 'waiting' : 'answered';
  return outcome.type === 'done' && outcome.exitCode === 0 ? 'done' : 'failed';
}
