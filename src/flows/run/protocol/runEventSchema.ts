import * as z from 'zod';
import type { RunEvent } from './runEvent.ts';

const run = z.number();
const at = z.number();
const step = { run, path: z.string(), visit: z.number(), at };
// The fields that every reader relies on. What is only shown is not checked.
const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run-start'), run, name: z.string(), startedAt: z.number(), state: z.unknown() }),
  z.object({ type: z.literal('run-end'), run, at, dropped: z.number().optional() }),
  z.object({ type: z.enum(['node-start', 'flow-start', 'node-end', 'flow-end']), ...step, node: z.string() }),
  z.object({
    type: z.enum(['attempt', 'retry', 'fallback', 'warning', 'model', 'wait', 'emit', 'pause', 'tool', 'live']),
    ...step,
    at: at.optional(),
  }),
  z.object({ type: z.literal('token'), ...step, text: z.string() }),
  z.object({ type: z.literal('edge'), ...step, action: z.string(), to: z.string().nullable() }),
  z.object({ type: z.literal('error'), ...step, node: z.string(), message: z.string() }),
  z.object({
    type: z.literal('state'),
    ...step,
    changes: z.array(z.object({ path: z.array(z.unknown()) })),
    skipped: z.number().optional(),
  }),
]);

/** An event of a run, as it comes out of a trace file or the log of a job; undefined for anything else. */
export function readRunEvent(value: unknown): RunEvent | undefined {
  return isRunEvent(value) ? value : undefined;
}

function isRunEvent(value: unknown): value is RunEvent {
  return known.safeParse(value).success;
}
