import * as z from 'zod';

/** The feature of a service whose jobs can wait for a debugger. */
export const DEBUG_FEATURE = 'debug';
/** How long a job waits for a debugger where nobody says, in seconds. */
export const DEFAULT_HOLD = 600;

// A day. The service has a limit of its own.
const MAX_HOLD = 86_400;

/** `meta.debug`: the job waits for a debugger where it fails. */
export const debugOptions = z.strictObject({
  hold: z
    .int()
    .min(1)
    .max(MAX_HOLD)
    .describe('hold time: seconds that the job may be frozen, in all, while it waits for a debugger'),
  wait: z.boolean().describe('whether it also waits at its start').optional(),
  limit: z.boolean().describe('whether it also waits just before its time limit').optional(),
});
export type DebugOptions = Readonly<z.infer<typeof debugOptions>>;

/** Where and why a frozen job waits. */
export const frozenPlace = z.object({
  process: z.int().positive().describe('ID of the process, as the job sees it'),
  language: z.enum(['python', 'node']),
  reason: z.enum(['failure', 'breakpoint', 'start', 'limit']),
  file: z.string().max(1024).describe('relative to the folder of the job, if it is in that'),
  line: z.int().nonnegative(),
  error: z.string().max(200).describe('the type of the error'),
  message: z.string().max(1000),
  rank: z.int().nonnegative().optional(),
});
export type FrozenPlace = z.infer<typeof frozenPlace>;

/** `frozen` of a job. */
export const frozen = z.object({
  ...frozenPlace.shape,
  since: z.iso.datetime(),
  until: z.iso.datetime().describe('when the hold time is over and the job continues'),
});
export type Frozen = z.infer<typeof frozen>;

/** Data of the embedded service's `freeze` event. */
export const freezeEventData = z.looseObject({
  at: z.string(),
  frozen: frozen.nullable().describe('null: the job continues'),
});
export type FreezeEventData = z.infer<typeof freezeEventData>;

/** The body of `POST /v1/jobs/{id}/freeze`. */
export const freezeExtension = z.strictObject({ seconds: z.int().min(1).max(MAX_HOLD) });
