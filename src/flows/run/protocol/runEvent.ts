import type { MissingReason, TraceEvent } from '../../../agents/run/trace.ts';
import type { StateChange } from './stateChange.ts';
import type { StateView } from './stateView.ts';

/**
 * What a run of a flow file tells, on every way: over IPC, in a trace file, in the log of a job. Plain JSON.
 *
 * A file may run more than one flow, at the same time too, so each event names its run: their numbers begin at 1.
 * `at` is in microseconds since the beginning of that run, as in trace events.
 */
export type RunEvent = { readonly run: number } & (RunStart | StepEvent | RunEnd);

/** An event of one visit of a node or flow. */
export type StepEvent = TraceEvent | LiveEvent | StateEvent;

interface RunStart {
  readonly type: 'run-start';
  /** The name of the outermost unit, which all paths of the run begin with. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly state: StateView;
  /** The path of the node after which the run goes on, when it resumes. */
  readonly resumedAfter?: string | undefined;
}

/** What a step changed in the shared state; comes after the step's end, and only when there is a change. */
interface StateEvent {
  readonly type: 'state';
  readonly path: string;
  readonly visit: number;
  readonly at: number;
  readonly changes: readonly StateChange[];
}

/** In a replay: an `exec` that ran, and why no recorded result could stand in for it. */
interface LiveEvent {
  readonly type: 'live';
  readonly path: string;
  readonly visit: number;
  readonly item?: number | undefined;
  readonly reason: MissingReason;
}

interface RunEnd {
  readonly type: 'run-end';
  readonly at: number;
  /** The action that the flow ended with, as its `post` returned it. */
  readonly action?: string | undefined;
  readonly error?: FlowFailure | undefined;
}

/** What was thrown, and where in the sources. */
export interface FlowFailure {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** The innermost place in the person's own files. */
  readonly place?: SourcePlace | undefined;
  /** The node that was under way. */
  readonly path?: string | undefined;
}

export interface SourcePlace {
  /** Absolute. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}
