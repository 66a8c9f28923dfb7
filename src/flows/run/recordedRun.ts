import type { Json } from '../../agents/plainJson.ts';
import { AppError } from '../../core/errors.ts';
import type { FlowOutcome, FlowRunRequest, FlowRuntime } from './flowRun.ts';
import { runFlow, type RunFlowOptions } from './runFlow.ts';
import { readCheckpointAfter, readEvents, type RunHistory } from './runHistory.ts';
import type { RunRecord } from './runRecord.ts';
import { type RunTimeline, timelinesOf } from './timeline.ts';

/** A run that is kept in the history. */
export interface RecordedRunRequest extends Omit<FlowRunRequest, 'folder' | 'replay' | 'resume'> {
  /** The id of an earlier run, whose results stand in wherever code and input are the same. */
  readonly replay?: string | undefined;
  /** Begin at a step of an earlier run, with the state that was there. */
  readonly rerun?: RerunPoint | undefined;
  /** From `sourceHashes`. */
  readonly sources?: Readonly<Record<string, string>> | undefined;
}

/** A step of an earlier run, which is the first to run again. */
interface RerunPoint {
  readonly run: string;
  /** The path of the node, or its name where only one has it. */
  readonly path: string;
  /** The last one when absent. */
  readonly visit?: number | undefined;
}

export interface RecordedRun {
  readonly record: RunRecord;
  readonly outcome: FlowOutcome;
}

interface RecordedRunOptions extends RunFlowOptions {
  /** Told once the run has its place in the history, before it begins. */
  readonly onBegin?: (record: RunRecord) => void;
}

/**
 * Runs a flow file and keeps the run in the history.
 *
 * @throws as `runFlow` does, and AppError `missing` for a run or a step that the history does not have.
 */
export async function runRecorded(
  history: RunHistory,
  runtime: FlowRuntime,
  { replay, rerun, sources, ...request }: RecordedRunRequest,
  { onBegin, ...options }: RecordedRunOptions,
): Promise<RecordedRun> {
  const { file, flow, args, shared } = request;
  const replayed = replay === undefined ? undefined : await history.find(file, replay);
  const point = rerun === undefined ? undefined : await findRerun(history, file, rerun);
  const begun = await history.begin({
    file,
    ...(flow !== undefined && { flow }),
    ...(args !== undefined && args.length > 0 && { args: [...args] }),
    ...(shared !== undefined && { shared: shared as Record<string, Json> }),
    ...(replayed !== undefined && { replayOf: replayed.id }),
    ...(point?.resume !== undefined && {
      resumedFrom: { run: point.record.id, path: point.resume.path, visit: point.resume.visit },
    }),
    ...(sources !== undefined && { sources: { ...sources } }),
  });
  onBegin?.(begun.record);
  const outcome = await runFlow(
    runtime,
    {
      ...request,
      shared: shared ?? point?.shared,
      folder: begun.folder.path,
      replay: replayed === undefined ? undefined : (await history.folder(file, replayed.id)).path,
      resume: point?.resume,
    },
    options,
  );
  const record = { ...begun.record, ...summaryOf(timelinesOf(await readEvents(begun.folder)), outcome) };
  await history.update(record);
  return { record, outcome };
}

/** What a record says of a run that has ended. */
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

interface FoundRerun {
  readonly record: RunRecord;
  /** Absent where the step is the first of the run. */
  readonly resume: Awaited<ReturnType<typeof readCheckpointAfter>>;
  readonly shared: Readonly<Record<string, unknown>> | undefined;
}

async function findRerun(history: RunHistory, file: string, { run, path, visit }: RerunPoint): Promise<FoundRerun> {
  const record = await history.find(file, run);
  const folder = await history.folder(file, record.id);
  const [timeline] = timelinesOf(await readEvents(folder));
  const steps = timeline?.steps ?? [];
  const isIt = (index: number): boolean => {
    const step = steps[index];
    const isNamed = step?.path === path || step?.node === path;
    return isNamed && (visit === undefined || step.visit === visit);
  };
  const index = steps.findLastIndex((_, at) => isIt(at));
  if (timeline === undefined || index < 0) {
    const names = [...new Set(steps.map((step) => step.path))].join(', ') || 'none';
    throw new AppError('missing', `The run ${record.id} has no step "${path}". Its steps are at ${names}.`);
  }
  const shared = record.shared;
  const before = steps[index - 1];
  if (before === undefined) return { record, resume: undefined, shared };
  const resume = await readCheckpointAfter(folder, { run: timeline.start.run, path: before.path, visit: before.visit });
  if (resume !== undefined) return { record, resume, shared };
  throw new AppError(
    'missing',
    `The run ${record.id} has no checkpoint before "${path}": its shared state is no plain data there, or too large to keep. ` +
      'Run from the beginning with recorded results instead.',
  );
}
