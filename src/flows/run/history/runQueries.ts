import type { TraceEvent } from '../../../agents/records/trace.ts';
import { AppError } from '../../../core/errors.ts';
import { setNewest } from '../../../core/setNewest.ts';
import { type RunChange, runChanges } from './runChanges.ts';
import { type RecordedModelCall, readModelCalls } from './modelCalls.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { readEvents } from './runFiles.ts';
import { RunHistory } from './runHistory.ts';
import type { RunRecord } from './runRecord.ts';
import { type ShownChange, showChanges, showState } from '../protocol/shownState.ts';
import { inLaneOrder, mainTimeline, type RunTimeline, timelinesOf } from '../protocol/runTimeline.ts';
import type { TimelineStep } from '../protocol/timelineStep.ts';
import { stateChanges } from '../protocol/stateChange.ts';

const KEPT_TIMELINES = 4;
const RUNNER_EVENTS: ReadonlySet<string> = new Set(['run-start', 'run-end', 'state', 'live']);

/** The changes of a step to the shared state, and the whole state afterwards. */
export interface ShownStep {
  readonly changes: readonly ShownChange[];
  readonly state: string;
}

/** How two runs differ. */
export interface RunComparison {
  /** Where the second run first differs from the first; undefined if it does not. `step` counts from 0 among those of `leafSteps`. */
  readonly divergence: { readonly step: number; readonly reason: string } | undefined;
  readonly changes: readonly RunChange[];
  /** Whether a trace was full, so that only the steps before that were compared. */
  readonly isPartial: boolean;
}

/** Where two runs of a flow first differ. */
interface Divergence {
  /** The index of the first step that differs; -1 if the runs started with different states. */
  readonly index: number;
  readonly reason: string;
}

/**
 * Queries of recorded runs for an editor. Steps are counted as on the canvas: visits of nodes that are not flows, in the order
 * in which they end, from 0.
 */
export class RunQueries {
  readonly #history: RunHistory;
  readonly #timelines = new Map<string, Promise<RunTimeline | undefined>>();

  constructor(home: string) {
    this.#history = new RunHistory(home);
  }

  /** The runs of a file, the newest first. */
  list(file: string): Promise<readonly RunRecord[]> {
    return this.#history.list(file);
  }

  /** The trace of a run; if the file ran several flows, that of the flow that was asked for, or else of the first. */
  async events(file: string, id: string): Promise<readonly TraceEvent[]> {
    const events = await readEvents(await this.#history.folder(file, id));
    const { flowName } = await this.#history.find(file, id);
    const run = mainTimeline(timelinesOf(events), flowName)?.start.run;
    return traceEventsOf(events.filter((event) => event.run === run));
  }

  /** Undefined if the run has no such step. */
  async step(file: string, id: string, step: number): Promise<ShownStep | undefined> {
    const timeline = await this.#timeline(file, id);
    return timeline && showStep(timeline, step);
  }

  /**
   * How the second run differs from the first.
   *
   * @throws AppError `missing` if nothing was recorded of one of them.
   */
  async compare(file: string, id: string, other: string): Promise<RunComparison> {
    const [before, after] = await Promise.all([this.#timeline(file, id), this.#timeline(file, other)]);
    return showComparison(before, after);
  }

  /** The calls of language models in the newest run that has any, in their order. */
  async calls(file: string): Promise<readonly RecordedModelCall[]> {
    for (const { id } of await this.#history.list(file)) {
      const calls = await readModelCalls(await this.#history.folder(file, id));
      if (calls.length > 0) return calls;
    }
    return [];
  }

  #timeline(file: string, id: string): Promise<RunTimeline | undefined> {
    const key = `${id} ${file}`;
    const timeline = this.#timelines.get(key) ?? this.#read(file, id);
    timeline.catch(() => this.#timelines.delete(key)); // a failed read is tried again the next time
    setNewest(this.#timelines, key, timeline, KEPT_TIMELINES);
    return timeline;
  }

  async #read(file: string, id: string): Promise<RunTimeline | undefined> {
    const { flowName } = await this.#history.find(file, id);
    const timeline = mainTimeline(timelinesOf(await readEvents(await this.#history.folder(file, id))), flowName);
    // A run that is still running is read again the next time.
    if (timeline?.end === undefined) this.#timelines.delete(`${id} ${file}`);
    return timeline;
  }
}

/** The trace events of a run, without the events that the runner adds. */
export function traceEventsOf(events: readonly RunEvent[]): readonly TraceEvent[] {
  return events.filter((event): event is RunEvent & TraceEvent => !RUNNER_EVENTS.has(event.type));
}

/** The trace events of the first run among the events. */
export function firstTrace(events: readonly RunEvent[]): readonly TraceEvent[] {
  return traceEventsOf(events.filter(({ run }) => run === events[0]?.run));
}

/** Shows the shared state at a step of a timeline; undefined if there is no such step. */
export function showStep(timeline: RunTimeline, step: number): ShownStep | undefined {
  const index = leafSteps(timeline)[step];
  if (index === undefined) return undefined;
  const changes = timeline.steps[index]?.changes ?? [];
  return {
    changes: showChanges(timeline.stateAfter(index - 1), changes),
    state: showState(timeline.stateAfter(index)),
  };
}

/**
 * How the second run differs from the first.
 *
 * @throws AppError `missing` if a run has no events yet.
 */
export function showComparison(before: RunTimeline | undefined, after: RunTimeline | undefined): RunComparison {
  if (before === undefined || after === undefined) {
    throw new AppError('missing', 'One of these runs has no recorded steps, so they cannot be compared.');
  }
  const changes = runChanges(before, after);
  const isPartial = before.isCutShort || after.isCutShort;
  const differences = compareRuns(before, after);
  if (differences === undefined) return { divergence: undefined, changes, isPartial };
  const step = differences.index < 0 ? 0 : leafSteps(after).filter((at) => at < differences.index).length;
  return { divergence: { step, reason: differences.reason }, changes, isPartial };
}

/** The indexes in a timeline of the visits of nodes that are not flows, in the order in which they ended. */
function leafSteps({ steps }: RunTimeline): readonly number[] {
  const ended = steps.flatMap(({ type, finishedAt }, index) =>
    type === 'node' && finishedAt !== undefined ? [{ index, finishedAt }] : [],
  );
  return ended.toSorted((a, b) => a.finishedAt - b.finishedAt || a.index - b.index).map(({ index }) => index);
}

/**
 * The first difference between two runs; undefined if there is none, as far as both traces go. Times, replays and retries do not count.
 */
export function compareRuns(before: RunTimeline, after: RunTimeline): Divergence | undefined {
  if (stateChanges(before.stateAfter(-1), after.stateAfter(-1)).length > 0) {
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
  return stateChanges(last, otherLast).length === 0
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
