import type { Checkpoint } from '../../../agents/records/recordSchemas.ts';
import { processOwner } from '../../../core/processes/processOwner.ts';
import type { FlowRunRequest, FlowRuntime } from '../protocol/runRequest.ts';
import type { FlowOutcome } from '../protocol/flowOutcome.ts';
import { runFlow, type RunFlowOptions } from '../start/runFlow.ts';
import { readEvents, readWaiting } from './runFiles.ts';
import { carrySteps, readCarriedSteps } from './carriedSteps.ts';
import { checkpointBefore, type RerunStep } from './rerun.ts';
import type { RunHistory } from './runHistory.ts';
import { changedSteps, type StepReach } from '../../project/changedSteps.ts';
import { type RunRecord, runRecord, stepReachSchema } from './runRecord.ts';
import { RunTotals } from './runSummary.ts';

/** A run that is stored in the history. */
export interface RecordedRunRequest extends Omit<FlowRunRequest, 'folder' | 'replay' | 'resume'> {
  /** The id of an earlier run, whose results are used for each `exec` with the same code and input. */
  readonly replay?: string | undefined;
  /** Start at a step of an earlier run, with the state before that step. */
  readonly rerun?: (RerunStep & { readonly run: string }) | undefined;
  /** The code that each step can reach now; without it, a replay compares only the code of each `exec` itself. */
  readonly reach?: StepReach | undefined;
  /** The case of a data set that it runs. */
  readonly evalCase?: RunRecord['evalCase'];
  /** Answer an earlier run that waits. */
  readonly answer?: { readonly run: string; readonly checkpoint: Checkpoint; readonly input: unknown } | undefined;
}

export interface RecordedRun {
  readonly record: RunRecord;
  readonly outcome: FlowOutcome;
}

export interface RecordedRunOptions extends RunFlowOptions {
  /** Called once the run is in the history, before it starts. */
  readonly onBegin?: (record: RunRecord) => void;
}

/**
 * Runs a flow file and stores the run in the history.
 *
 * @throws as `runFlow` does, and AppError `missing` if the history does not have the run or step.
 */
export async function runRecorded(
  history: RunHistory,
  runtime: FlowRuntime,
  { replay, rerun, answer: given, reach, evalCase, ...request }: RecordedRunRequest,
  { onBegin, ...options }: RecordedRunOptions,
): Promise<RecordedRun> {
  const { file, flow, flowName } = request;
  const replayed = replay === undefined ? undefined : await findReplayed(history, file, replay);
  const answer =
    given ?? (rerun === undefined && request.shared === undefined ? await answerOf(history, replayed) : undefined);
  const earlierId = answer?.run ?? rerun?.run;
  const earlier = earlierId === undefined ? undefined : await history.find(file, earlierId);
  // With different input, a replay would be a different run.
  const shared = request.shared ?? replayed?.shared ?? earlier?.shared;
  const args = request.args !== undefined && request.args.length > 0 ? request.args : replayed?.args;
  const resume =
    rerun === undefined || earlier === undefined
      ? answer?.checkpoint
      : await checkpointBefore(await history.folder(file, earlier.id), rerun);
  const begun = await history.begin({
    file,
    cwd: request.cwd,
    owner: processOwner(),
    ...(flow !== undefined && { flow }),
    ...(flowName !== undefined && { flowName }),
    ...(args !== undefined && args.length > 0 && { args: [...args] }),
    ...(shared !== undefined && { shared: runRecord.shape.shared.parse(shared) }),
    ...(replayed !== undefined && { replayOf: replayed.id }),
    ...(earlier !== undefined &&
      resume !== undefined && { resumedFrom: { run: earlier.id, path: resume.path, visit: resume.visit } }),
    ...(answer !== undefined && { answer: runRecord.shape.answer.parse(answer.input) }),
    ...(evalCase !== undefined && { evalCase }),
    ...(reach !== undefined && { reach: stepReachSchema.parse(reach) }),
  });
  if (earlier !== undefined && resume !== undefined) {
    // Also from runs that were given an answer before, and failed with it.
    const tries = answer === undefined ? [] : (await history.list(file)).filter((each) => isTry(each, answer.run));
    for (const { id } of [earlier, ...tries.filter((each) => each.id !== begun.record.id).toReversed()]) {
      const isWhole = rerun !== undefined && rerun.path === undefined;
      await carrySteps(await readCarriedSteps(await history.folder(file, id), { isWhole }), begun.folder);
    }
  }
  onBegin?.(begun.record);
  const live = new RunTotals(flowName);
  const outcome = await runFlow(
    runtime,
    {
      ...request,
      shared,
      args,
      folder: begun.folder.path,
      replay: replayed === undefined ? undefined : (await history.folder(file, replayed.id)).path,
      stale: replayed?.reach && reach && changedSteps(replayed.reach, reach),
      resume,
      input: answer?.input,
    },
    {
      ...options,
      onEvent: (event) => {
        if (event.type === 'run') live.push(event.event);
        return options.onEvent(event);
      },
    },
  );
  const recorded = new RunTotals(flowName);
  for (const event of await readEvents(begun.folder)) recorded.push(event);
  // A process that was killed has sent fewer events than it recorded, and a trace that was full has fewer than were sent.
  const totals = live.steps > recorded.steps ? live : recorded;
  const record = { ...begun.record, ...totals.summary(outcome) };
  await history.update(record);
  return { record, outcome };
}

function isTry({ answer, resumedFrom }: RunRecord, waiting: string): boolean {
  return answer !== undefined && resumedFrom?.run === waiting;
}

/** A run that continued another by an answer is replayed with that answer. */
async function answerOf(history: RunHistory, replayed: RunRecord | undefined): Promise<RecordedRunRequest['answer']> {
  if (replayed?.answer === undefined || replayed.resumedFrom === undefined) return undefined;
  const { run } = replayed.resumedFrom;
  return { run, checkpoint: await readWaiting(await history.folder(replayed.file, run)), input: replayed.answer };
}

/** The run to replay. `last` is the newest that is not itself a replay that failed: after a mistake, the recording is still the same. */
async function findReplayed(history: RunHistory, file: string, run: string): Promise<RunRecord> {
  if (run !== 'last') return history.find(file, run);
  const records = await history.list(file);
  const earlier = records.find(({ replayOf, outcome, evalCase }) => {
    if (outcome?.type === 'refused' || evalCase !== undefined) return false;
    return replayOf === undefined || (outcome?.type === 'done' && outcome.exitCode === 0);
  });
  return earlier ?? history.find(file, run);
}
