import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkpointSchema } from '../../../agents/records/recordSchemas.ts';
import { AppError } from '../../../core/errors.ts';
import { untilAborted } from '../../../core/processes/lifetime.ts';
import { describeRunEnd } from './describeRun.ts';
import { checkpointBefore } from './rerun.ts';
import { runFolder } from './runFolder.ts';
import type { RunHistory } from './runHistory.ts';
import type { FlowProcessEvent, FlowRunRequest, FlowRuntime } from '../protocol/runRequest.ts';
import type { FlowOutcome } from '../protocol/flowOutcome.ts';
import { runFlow } from '../start/runFlow.ts';
import type { NodeVisit, VisitRuns } from './nodeVisit.ts';
import { findVisit, inputOfVisit, reportVisit } from './visitReport.ts';

/** A visit of a recorded run to repeat. */
export interface VisitRunRequest
  extends Pick<FlowRunRequest, 'file' | 'flow' | 'flowName' | 'cwd' | 'env' | 'variables'>,
    NodeVisit {
  /** The id of the run. */
  readonly run: string;
  /** The shared state to run the node with; that before the recorded visit if absent. */
  readonly shared?: Readonly<Record<string, unknown>> | undefined;
}

interface VisitRunOptions {
  readonly signal: AbortSignal;
  /** Called with the output and notes of the process. */
  readonly onEvent?: (event: FlowProcessEvent) => void;
}

/**
 * Runs one node again with the shared state that it had in a recorded run, or with another one: the flow continues where it was before the
 * node, and is stopped after it. Nothing is added to the history.
 *
 * @throws AppError `missing` if the run has no such visit or the state before it is not known, `bad-input` if the file cannot run or goes to
 * another node there; as `runFlow`.
 */
export async function runVisit(
  history: RunHistory,
  runtime: FlowRuntime,
  { run, path, visit, shared, ...request }: VisitRunRequest,
  { signal, onEvent }: VisitRunOptions,
): Promise<VisitRuns> {
  const record = await history.find(request.file, run);
  const folder = await history.folder(request.file, record.id);
  const { flow, flowName = record.flowName, ...place } = request;
  const recordedVisit = await findVisit(folder, { path, visit }, flowName);
  const { step } = recordedVisit;
  const state = shared ?? (await inputOfVisit(folder, step, record));
  const before = await checkpointBefore(folder, step);
  const scratch = runFolder(await mkdtemp(join(tmpdir(), 'farwharf-visit-')));
  try {
    const outcome = await untilVisited(
      runtime,
      {
        ...place,
        flow: flow ?? record.flow,
        flowName,
        args: record.args,
        folder: scratch.path,
        isOneVisit: true,
        // The run of a file that sets its own state keeps it at its first node, unless it was edited.
        shared: before === undefined && (shared !== undefined || record.shared !== undefined) ? state : undefined,
        resume: before && { ...before, shared: checkpointSchema.shape.shared.parse(state) },
      },
      { signal, onEvent },
    );
    if (outcome?.type === 'refused') throw new AppError('bad-input', `The node ${describeRunEnd(outcome)}`);
    const now = await findVisit(scratch, { path: step.path }, flowName).catch(() => undefined);
    if (now === undefined) throw new AppError('bad-input', `${step.path} did not run: ${whyNot(outcome)}.`);
    const [recorded, repeated] = await Promise.all([reportVisit(folder, recordedVisit), reportVisit(scratch, now)]);
    return { path: step.path, visit: step.visit, recorded, now: repeated };
  } finally {
    // Other items or branches may still write to it until their process has ended.
    await rm(scratch.path, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Runs a flow until its first node has ended. Returns undefined then, while its process ends, or how the run ended before. */
async function untilVisited(
  runtime: FlowRuntime,
  request: FlowRunRequest,
  { signal, onEvent }: VisitRunOptions,
): Promise<FlowOutcome | undefined> {
  const visited = new AbortController();
  const running = runFlow(runtime, request, {
    signal: AbortSignal.any([signal, visited.signal]),
    onEvent: (event) => {
      if (event.type === 'visited') visited.abort();
      else onEvent?.(event);
    },
  });
  const outcome = await Promise.race([running, untilAborted(visited.signal)]);
  if (outcome === undefined) running.catch(() => {}); // how it is stopped does not matter
  signal.throwIfAborted();
  return outcome;
}

function whyNot(outcome: FlowOutcome | undefined): string {
  return outcome === undefined ? 'the flow now goes to another node there' : describeRunEnd(outcome);
}
