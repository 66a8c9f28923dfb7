import * as z from 'zod';
import { received } from './received.ts';
import { declaredAccount, declaredJob } from './spellings.ts';
import { JOB_STATES } from './states.ts';

/**
 * The bodies of `/v1`, declared once. The service answers with them and describes them in its OpenAPI page; the client reads them
 * through `received`, which takes what other services send instead.
 */
const time = z.iso.datetime();

const rateCardItem = z.object({
  machine_class: z.string(),
  credits_per_minute: z.number(),
  description: z.string(),
  cpus: z.int(),
  memory_gb: z.number(),
  gpus: z.int(),
});

/** The answer to `GET /v1/me`. */
export const account = z.object({
  account_id: z.string(),
  plan: z.string(),
  credits: z.number(),
  rate_card: z.array(rateCardItem),
  limits: z
    .object({ max_runtime: z.int().describe('seconds'), max_upload_bytes: z.int() })
    .describe('what one submission may ask for; a job whose highest price the credits do not cover is refused'),
});
/** As a client reads it, in the declared spelling: a rate card that is an object by machine class becomes a list. */
export const receivedAccount = z.preprocess(declaredAccount, received(account));
export type Account = z.infer<typeof receivedAccount>;
export type RateCardItem = NonNullable<Account['rate_card']>[number];

/** The fields of a job that the service decides, and may change. The job ledger stores each under its name in camel case. */
export const jobReport = z.object({
  state: z.enum(JOB_STATES),
  machine_class: z.string(),
  started_at: time.nullable(),
  finished_at: time.nullable(),
  exit_code: z.int().nullable(),
  credit_hold: z.number(),
  credits_charged: z.number().nullable(),
  reason: z.string().nullable(),
});

/** The answer to `GET /v1/jobs/{id}`. */
export const job = z.object({
  job_id: z.string(),
  script: z.string(),
  project: z.string().nullable(),
  max_runtime: z.int().describe('seconds'),
  created_at: time,
  ...jobReport.shape,
});
/** As a client reads it. `state` is any text, since the specification names no states: ask `isJobState`. */
export const receivedJob = z.preprocess(declaredJob, received(job));
export type Job = z.infer<typeof receivedJob>;

/** The answer to `GET /v1/jobs`. */
export const jobList = z.object({ jobs: z.array(job) });

// The specification leaves the alphabet open. These are the characters of UUIDs, numbers, base64, names and paths in other services'
// ids, and none that a shell, a terminal or a list would take for anything else: ids are shown to be copied into commands.
const jobId = z.string().regex(/^[\w.:~@+=-]{1,256}$/, 'must be 1 to 256 letters, digits or characters of "_.:~@+=-"');

/** The answer to `POST /v1/jobs` (specification, section 2.2). */
export const jobCreated = z.object({ job_id: z.string(), credit_hold: z.number(), credits_remaining: z.number() });
/** As a client reads it. Only the id must be there: without it the job is lost. */
export const receivedJobCreated = received(jobCreated, { job_id: jobId });
export type JobCreated = z.infer<typeof receivedJobCreated>;

const accepted = z.object({ state: z.literal('accepted'), account_id: z.string(), ...jobCreated.shape });
const checking = z.object({ state: z.literal('checking'), account_id: z.string() });
const incomplete = z.object({
  state: z.literal('incomplete'),
  account_id: z.string(),
  received_bytes: z.int().min(0).describe('of the archive: the rest goes in a request with this Upload-Offset'),
});
/** The answer to `GET /v1/submissions/{key}`, of services that know keys. */
export const submissionStatus = z.discriminatedUnion('state', [
  accepted.describe('It is a job.'),
  checking.describe('All of it is there and is being checked. Ask again in a second.'),
  incomplete.describe('It is no job.'),
]);
/** As a client reads it. */
export const receivedSubmissionStatus = z.union([
  received(accepted, { state: accepted.shape.state, job_id: jobId }),
  received(checking, { state: checking.shape.state }),
  received(incomplete, { state: incomplete.shape.state, received_bytes: incomplete.shape.received_bytes }),
]);
export type SubmissionStatus = z.infer<typeof receivedSubmissionStatus>;

/** The answer to `DELETE /v1/jobs/{id}`. */
export const cancellation = z.object({ job_id: z.string(), state: jobReport.shape.state });
/** As a client reads it: any JSON object. */
export const receivedCancellation = z.looseObject({});

/** The body of an answer with a status of 400 or above. */
export const failure = z.object({ detail: z.string() });

/** The answer to `GET /healthz`. */
export const health = z.object({
  status: z.enum(['ok', 'degraded', 'stopping']),
  version: z.string(),
  problems: z.array(z.string()).optional().describe('what keeps it from taking jobs'),
  warnings: z.array(z.string()).optional().describe('what soon will'),
  proof: z.string().optional(),
});

/** One server-sent event. `data` is decoded JSON, or the text itself where it is none; `id` is there when one was sent. */
export interface JobEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

/** Data of the embedded service's `state` event. */
export const stateEventData = z.looseObject({
  state: jobReport.shape.state,
  at: z.string(),
  reason: z.string().optional(),
});
export type StateEventData = z.infer<typeof stateEventData>;

/** Data of the embedded service's `log` event: a piece of output, which may begin or end inside a line. */
export const logEventData = z.looseObject({ stream: z.enum(['stdout', 'stderr']), text: z.string() });
export type LogEventData = z.infer<typeof logEventData>;

/** Data of the embedded service's `flow` event: what a flow reported of its run, see `RunEvent`. */
export const flowEventData = z.looseObject({ type: z.string(), run: z.number() });
export type FlowEventData = z.infer<typeof flowEventData>;

/** Data of the embedded service's `artifact` event: a file that the job made, its size in bytes. */
export const artifactEventData = z.looseObject({ path: z.string(), size: z.number() });
export type ArtifactEventData = z.infer<typeof artifactEventData>;

/** Data of the embedded service's `end` event, the last of a job. */
export const endEventData = z.looseObject({
  state: jobReport.shape.state,
  exit_code: z.number().nullish(),
  credits_charged: z.number(),
});
export type EndEventData = z.infer<typeof endEventData>;
