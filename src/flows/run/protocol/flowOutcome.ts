import * as z from 'zod';
import { pauseSchema } from '../../../agents/records/recordSchemas.ts';
import type { StateView } from './stateView.ts';

/** What was thrown, and where in the sources. */
const flowFailure = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  /** Of an `AppError`. */
  code: z.string().optional(),
  /** The innermost position in the user's own files: an absolute path, with line and column from 1. */
  place: z.object({ file: z.string(), line: z.number(), column: z.number() }).optional(),
  /** The node that was running. */
  path: z.string().optional(),
});

/** What a run waits for, and the path of the node that asks. */
const runPause = pauseSchema.extend({ path: z.string() });

/** How a run ended, as stored in its record; the shared state is in the trace. */
export const recordedOutcome = z.discriminatedUnion('type', [
  /** `exitCode` is that of the process, which the file may have set. */
  z.object({ type: z.literal('done'), action: z.string().optional(), exitCode: z.number() }),
  z.object({ type: z.literal('failed'), error: flowFailure }),
  /** It returned a pause: it continues when a person has answered. */
  z.object({ type: z.literal('waiting'), ...runPause.shape }),
  /** The file could not run: no flow, several flows, a syntax error, a missing package, a Node that is too old. */
  z.object({ type: z.literal('refused'), error: flowFailure }),
  /** The process exited before the flow ended: `process.exit` was called, or (status 13) nothing was left that could wake it. */
  z.object({ type: z.literal('exited'), code: z.number() }),
  /** Another process or the system killed the child. */
  z.object({ type: z.literal('killed'), signal: z.string() }),
  /** Aborted by the caller's signal. */
  z.object({ type: z.literal('stopped') }),
]);

export type RunPause = z.infer<typeof runPause>;
export type FlowFailure = z.infer<typeof flowFailure>;
export type SourcePlace = NonNullable<FlowFailure['place']>;
export type RecordedOutcome = z.infer<typeof recordedOutcome>;
type Done = Extract<RecordedOutcome, { type: 'done' }>;

/** How a run ended, with the shared state at the end of one that is done. */
export type FlowOutcome = Exclude<RecordedOutcome, Done> | (Done & { readonly shared: StateView });
