import { resultEntrySchema } from '../../../agents/records/recordSchemas.ts';
import { AppError, messageOf } from '../../../core/errors.ts';
import { parseJson } from '../../../core/jsonFields.ts';
import { checkpointBefore } from './rerun.ts';
import { readModelCalls } from './modelCalls.ts';
import { readEvents, readIfThere } from './runFiles.ts';
import type { RunFolder } from './runFolder.ts';
import type { RunRecord } from './runRecord.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { showChanges, showState } from '../protocol/shownState.ts';
import { plainOf, stateViewOf } from '../protocol/stateView.ts';
import { mainTimeline, type RunTimeline, timelinesOf } from '../protocol/runTimeline.ts';
import { microsOf, type TimelineStep } from '../protocol/timelineStep.ts';
import type { NodeVisit, VisitReport } from './nodeVisit.ts';

const MOST_NAMES = 20;

/** A visit of a recorded run: its step, the index of that in its timeline, and the timeline. */
interface FoundVisit {
  readonly step: TimelineStep;
  readonly index: number;
  readonly timeline: RunTimeline;
}

/** @throws AppError `missing` if the run has no such visit. */
export async function findVisit(
  folder: RunFolder,
  { path, visit }: NodeVisit,
  flowName: string | undefined,
): Promise<FoundVisit> {
  const timeline = mainTimeline(timelinesOf(await readEvents(folder)), flowName);
  const steps = timeline?.steps ?? [];
  const index = steps.findLastIndex(
    (step) => (step.path === path || step.node === path) && (visit === undefined || step.visit === visit),
  );
  const step = steps[index];
  if (timeline !== undefined && step !== undefined && step.type === 'node') return { step, index, timeline };
  const names = [...new Set(steps.flatMap(({ type, path: each }) => (type === 'node' ? [each] : [])))];
  const nodeList = [...names.slice(0, MOST_NAMES), ...(names.length > MOST_NAMES ? ['…'] : [])].join(', ');
  throw new AppError('missing', `The run has no visit of a node "${path}". Its nodes are ${nodeList || 'none'}.`);
}

/** What a visit of a run did. */
export async function reportVisit(folder: RunFolder, { step, index, timeline }: FoundVisit): Promise<VisitReport> {
  const { path, visit, status, action, error, changes } = step;
  const isHere = (each: { readonly path?: string | undefined; readonly visit?: number | undefined }): boolean =>
    each.path === path && each.visit === visit;
  const results = parseLines(await readIfThere(folder.recording), (value) => resultEntrySchema.safeParse(value).data)
    .filter(isHere)
    .toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0));
  const [first] = results;
  const output = first?.item === undefined ? first?.result : results.map(({ result }) => result ?? null);
  const calls = (await readModelCalls(folder)).filter(isHere);
  return {
    status,
    action,
    output: first === undefined ? undefined : showState(stateViewOf(output)),
    changes: showChanges(timeline.stateAfter(index - 1), changes),
    error,
    calls: calls.map(({ model, messages, reply }) => ({ model, messages, reply })),
    micros: microsOf(step),
  };
}

/**
 * The shared state before a visit, with which it can run again.
 *
 * @throws AppError `missing` if the run has no such visit, or the state before it was not plain data or was too large.
 */
export async function inputOfVisit(
  folder: RunFolder,
  visit: NodeVisit,
  { flowName, shared }: Pick<RunRecord, 'flowName' | 'shared'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { step, timeline } = await findVisit(folder, visit, flowName);
  const checkpoint = await checkpointBefore(folder, { path: step.path, visit: step.visit });
  if (checkpoint !== undefined) return checkpoint.shared;
  if (shared !== undefined && timeline.start.resumedAfter === undefined) return shared;
  const state = plainOf(timeline.start.state);
  if (isState(state)) return state;
  throw new AppError(
    'missing',
    'The state at the start of that run was not plain data, so its first node cannot run alone.',
  );
}

/** Parses an edited state. @throws AppError `bad-input` if it is not an object in JSON. */
export function readState(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new AppError('bad-input', `The state is not valid JSON: ${messageOf(cause)}`, { cause });
  }
  if (isState(value)) return value;
  throw new AppError('bad-input', 'The state must be an object, such as { "topic": "tides" }.');
}

function isState(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
