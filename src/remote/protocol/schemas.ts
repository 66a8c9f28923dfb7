import * as z from 'zod';

/** What the specification does not show may be absent, null or of another type; a wrong type reads as absent. */
const lenient = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);
const text = lenient(z.string());
const number = lenient(z.number());

/** One line of an account's price list. */
const rateCardItem = z.looseObject({
  machine_class: text,
  credits_per_minute: number,
  description: text,
  cpus: number,
  memory_gb: number,
  gpus: number,
});
export type RateCardItem = z.infer<typeof rateCardItem>;

/** The answer of `GET /v1/me`. A rate card that is no list of objects reads as absent. */
export const account = z.looseObject({
  account_id: text,
  plan: text,
  credits: number,
  rate_card: lenient(z.array(rateCardItem)),
});
export type Account = z.infer<typeof account>;

// The specification leaves the alphabet open. These are the characters of UUIDs, numbers, base64, names and paths in other services'
// ids, and none that a shell, a terminal or a list would take for anything else: ids are shown to be copied into commands.
const jobId = z.string().regex(/^[\w.:~@+=-]{1,256}$/, 'must be 1 to 256 letters, digits or characters of "_.:~@+=-"');

/** The answer of `POST /v1/jobs` (specification, section 2.2). Only the id must be there: without it the job is lost. */
export const jobCreated = z.looseObject({
  job_id: jobId,
  credit_hold: number,
  credits_remaining: number,
});
export type JobCreated = z.infer<typeof jobCreated>;

/**
 * The answer of `GET /v1/submissions/{key}`, of services that know keys: the job that was made, that the upload is there and looked
 * at, or how many bytes of the archive are there of one that is no job.
 */
export const submissionStatus = z.discriminatedUnion('state', [
  jobCreated.extend({ state: z.literal('accepted'), account_id: text }),
  z.looseObject({ state: z.literal('checking'), account_id: text }),
  z.looseObject({ state: z.literal('incomplete'), account_id: text, received_bytes: z.int().min(0) }),
]);
export type SubmissionStatus = z.infer<typeof submissionStatus>;

export const JOB_STATES = [
  'queued',
  'starting',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
  'lost',
] as const;
export type JobState = (typeof JOB_STATES)[number];

const FINAL_STATES: ReadonlySet<string> = new Set<JobState>(['succeeded', 'failed', 'cancelled', 'timed_out', 'lost']);

/** Whether this is one of the states that the embedded service uses; other services may have others. */
export function isJobState(state: unknown): state is JobState {
  return JOB_STATES.some((known) => known === state);
}

/** Whether a job in this state will not change any more. A state that is not known is not final. */
export function isFinalState(state: string): boolean {
  return FINAL_STATES.has(state);
}

/**
 * The answer of `GET /v1/jobs/{id}`. `max_runtime` is in seconds, times are ISO 8601. `state` is any text, since the
 * specification names no states: ask `isJobState`.
 */
export const job = z.looseObject({
  job_id: text,
  state: text,
  script: text,
  project: text,
  machine_class: text,
  max_runtime: number,
  created_at: text,
  started_at: text,
  finished_at: text,
  exit_code: number,
  credit_hold: number,
  credits_charged: number,
  reason: text,
});
export type Job = z.infer<typeof job>;

/** The answer of `DELETE /v1/jobs/{id}`: any JSON object. */
export const cancelled = z.looseObject({});

/** One server-sent event. `data` is decoded JSON, or the text itself where it is none; `id` is there when one was sent. */
export interface JobEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

/** Data of the embedded service's `state` event. */
export const stateEventData = z.looseObject({
  state: z.enum(JOB_STATES),
  at: z.string(),
  reason: z.string().optional(),
});
export type StateEventData = z.infer<typeof stateEventData>;

/** Data of the embedded service's `log` event: a piece of output, which may begin or end inside a line. */
export const logEventData = z.looseObject({ stream: z.enum(['stdout', 'stderr']), text: z.string() });
export type LogEventData = z.infer<typeof logEventData>;

/** Data of the embedded service's `flow` event: what a flow told of its run, see `RunEvent`. */
export const flowEventData = z.looseObject({ type: z.string(), run: z.number() });
export type FlowEventData = z.infer<typeof flowEventData>;

/** Data of the embedded service's `artifact` event: a file that the job made, its size in bytes. */
export const artifactEventData = z.looseObject({ path: z.string(), size: z.number() });
export type ArtifactEventData = z.infer<typeof artifactEventData>;

/** Data of the embedded service's `end` event, the last of a job. */
export const endEventData = z.looseObject({
  state: z.enum(JOB_STATES),
  exit_code: z.number().nullish(),
  credits_charged: z.number(),
});
export type EndEventData = z.infer<typeof endEventData>;
