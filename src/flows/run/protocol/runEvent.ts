import * as z from 'zod';
import type { MissingReason, TraceEvent } from '../../../agents/records/trace.ts';
import type { FlowFailure, RunPause } from './flowOutcome.ts';
import type { StateChange } from './stateChange.ts';
import type { StateView } from './stateView.ts';

const run = z.number();

const at = z.number();

const step = { run, path: z.string(), visit: z.number(), at };

// The fields that every reader relies on. What is only shown is not checked.
const reliedOn = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run-start'), run, name: z.string(), startedAt: z.number(), state: z.unknown() }),
  z.object({ type: z.literal('run-end'), run, at, dropped: z.number().optional() }),
  z.object({ type: z.enum(['node-start', 'flow-start', 'node-end', 'flow-end']), ...step, node: z.string() }),
  z.object({
    type: z.enum([
      'attempt',
      'retry',
      'fallback',
      'warning',
      'model',
      'model-fallback',
      'history',
      'wait',
      'emit',
      'pause',
      'call',
      'tool',
      'live',
    ]),
    ...step,
    at: at.optional(),
  }),
  z.object({ type: z.enum(['token', 'reasoning']), ...step, text: z.string() }),
  z.object({ type: z.literal('edge'), ...step, action: z.string(), to: z.string().nullable() }),
  z.object({ type: z.literal('error'), ...step, node: z.string(), message: z.string() }),
  z.object({
    type: z.literal('state'),
    ...step,
    changes: z.array(z.object({ path: z.array(z.unknown()) })),
    skipped: z.number().optional(),
  }),
]);

/**
 * An event of a run, the same over IPC, in a trace file and in the log of a job. Plain JSON.
 *
 * A file can run several flows, also concurrently, so each event has the number of its run, from 1.
 * `at` is in microseconds since the beginning of that run, as in trace events.
 */
export type RunEvent = { readonly run: number } & (RunStart | StepEvent | RunEnd);

/** An event of one visit of a node or flow. */
export type StepEvent = TraceEvent | LiveEvent | StateEvent;

interface RunStart {
  readonly type: 'run-start';
  /** The name of the outermost unit, with which all paths of the run start. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly state: StateView;
  /** The path of the node after which the run continues, if it resumes. */
  readonly resumedAfter?: string | undefined;
  /** A hook of another run started it. */
  readonly isInner?: boolean;
}

/** The changes of a step to the shared state; sent after the end of the step, and only if there are any. */
interface StateEvent {
  readonly type: 'state';
  readonly path: string;
  readonly visit: number;
  readonly at: number;
  readonly changes: readonly StateChange[];
  /** How many steps before this one were too fast to be watched, so that these are their changes too. */
  readonly skipped?: number | undefined;
}

/** In a replay: an `exec` that ran, and why no recorded result could be used. */
interface LiveEvent {
  readonly type: 'live';
  readonly path: string;
  readonly visit: number;
  readonly item?: number | undefined;
  readonly reason: MissingReason;
  /** The files in which code that the step reaches has changed, as one text. */
  readonly files?: string | undefined;
}

interface RunEnd {
  readonly type: 'run-end';
  readonly at: number;
  /** The action that the flow ended with, as its `post` returned it. */
  readonly action?: string | undefined;
  readonly error?: FlowFailure | undefined;
  /** Events that a full trace lacks; absent if it is complete. */
  readonly dropped?: number | undefined;
  /** What the run waits for, if it waits. */
  readonly pause?: RunPause | undefined;
}

/** An event of a run, as it comes out of a trace file or the log of a job; undefined for anything else. */
export function readRunEvent(value: unknown): RunEvent | undefined {
  return isRunEvent(value) ? value : undefined;
}

function isRunEvent(value: unknown): value is RunEvent {
  return reliedOn.safeParse(value).success;
}
