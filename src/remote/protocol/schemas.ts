import * as z from 'zod';
import { debugOptions, frozen } from './debugging.ts';
import { listedVolume } from './volume.ts';
import { asSent, received } from './received.ts';
import { declaredAccount, declaredJob } from './spellings.ts';
import { JOB_STATES } from './states.ts';

/**
 * The bodies of `/v1`, declared once. The service sends them and describes them in its OpenAPI page. The client reads them through
 * `received`, which also accepts the variants of other services.
 */
const time = z.iso.datetime();

/** The feature of a service in whose rate card a machine class without `credits_per_minute` costs no credits. Elsewhere its price is unknown. */
export const UNPRICED_FEATURE = 'unpriced';

const rateCardItem = z.object({
  machine_class: z.string(),
  credits_per_minute: z
    .number()
    .optional()
    .describe(
      'absent for a class without a price, whose jobs cost no credits; if no class has one, there are no credits',
    ),
  frozen_credits_per_minute: z
    .number()
    .optional()
    .describe('the price of a frozen job, while it computes nothing; absent if it is the same'),
  description: z.string(),
  cpus: z.int(),
  memory_gb: z.number(),
  gpus: z.int(),
  unavailable: z
    .string()
    .optional()
    .describe('why no job of the class can ever run, so that submissions for it are refused; absent if jobs can'),
});

/** The response of `GET /v1/me`. */
export const account = z.object({
  account_id: z.string(),
  plan: z.string(),
  credits: z.number(),
  rate_card: z.array(rateCardItem),
  features: z
    .array(z.string())
    .describe(
      'what the service offers beyond submissions: "command" for `meta.command`, "connect" for `/v1/jobs/{job_id}/connect`, "debug" for `meta.debug` and `/v1/jobs/{job_id}/freeze`, "content" for `/v1/contents` and the part `contents`, "result-content" for `/v1/jobs/{job_id}/artifacts/contents`, "secrets" for `/v1/secrets` and `meta.secrets`, "redacted-results" for secrets that are removed from results, "unpriced" for machine classes without `credits_per_minute` that cost no credits',
    ),
  limits: z
    .object({
      max_runtime: z.int().describe('seconds'),
      max_upload_bytes: z.int(),
      max_hold: z.int().describe('seconds that a job may be frozen; absent without the feature "debug"').optional(),
    })
    .describe('limits of one submission; a job whose maximum cost exceeds the credits is refused'),
  volumes: z.array(listedVolume).describe('what `meta.volumes` of the account can name'),
  scripts: z
    .array(
      z.object({
        kind: z.string(),
        files: z.array(z.string()).describe('names of files; "*" at the start stands for any beginning'),
      }),
    )
    .optional()
    .describe(
      'the kinds of scripts that jobs can run. The first line of a script (#!) decides with which program it runs; without one, the name of its file does. A file of any other name must have such a line or be a program itself. Absent if that is not known',
    ),
  package_tools: z
    .array(z.string())
    .optional()
    .describe(
      'the tools with which jobs can install packages (`venv.requirements`), such as "pip" or "pnpm"; "pip" also installs lock files of Python that have hashes. Absent if that is not known',
    ),
  key: z
    .object({
      key_id: z.string(),
      budget: z.number().nullable(),
      expires_at: time.nullable(),
      scopes: z.array(z.string()).nullable(),
    })
    .optional()
    .describe('the key of the request; `credits` is what this key can spend'),
});
/** As our own programs read it, with declared field names. If the rate card is an object keyed by machine class, it becomes a list. */
export const receivedAccount = z.preprocess(declaredAccount, received(account));
/** Typed as the embedded service sends it. `RemoteClient` passes on what a service sends, so fields of another one may have other types. */
export type Account = z.infer<typeof receivedAccount>;
export type RateCardItem = NonNullable<Account['rate_card']>[number];

/** What a job has of its machine, if the class had no price when the job was submitted. */
const unpricedMachine = {
  unpriced_cpus: z.int().nullable().describe('cores of the machine class if it has no price, otherwise null'),
  unpriced_gpus: z.int().nullable().describe('GPUs of the machine class if it has no price, otherwise null'),
};

/** The fields of a job that the service sets and may change. The job ledger stores each under its name in camel case. */
export const jobReport = z.object({
  state: z.enum(JOB_STATES),
  machine_class: z.string(),
  started_at: time.nullable(),
  finished_at: time.nullable(),
  exit_code: z.int().nullable(),
  credit_hold: z.number(),
  credits_charged: z.number().nullable(),
  ...unpricedMachine,
  reason: z.string().nullable(),
  frozen: frozen.nullable().describe('where the job waits for a debugger; null while it does not'),
});

/** The response of `GET /v1/jobs/{id}`. */
export const job = z.object({
  job_id: z.string(),
  script: z.string().describe('with its arguments; for a command its line, as a title'),
  command: z.array(z.string()).nullable().describe('what the job runs in place of a script'),
  project: z.string().nullable(),
  max_runtime: z.int().describe('seconds'),
  debug: debugOptions.nullable().describe('how the job waits for a debugger; null if it does not'),
  created_at: time,
  ...jobReport.shape,
});
/** As our own programs read it. */
export const receivedJob = z.preprocess(declaredJob, received(job));
/** Typed like `Account`. `state` can be any text, because the specification names no states; check it with `isJobState`. */
export type Job = z.infer<typeof receivedJob>;

/** The response of `GET /v1/jobs`. */
export const jobList = z.object({ jobs: z.array(job) });
/** As a client reads it: each job as the service sent it. */
export const receivedJobList = z.object({ jobs: z.array(asSent<Job>()) });

// The specification does not restrict IDs. These characters cover UUIDs, numbers, base64, and names and paths of other services. None
// of them is special to a shell, a terminal or a list, because users copy IDs into commands. "." and ".." are no segments of a path.
/** A job ID as a client accepts it. */
export const acceptedJobId = z
  .string()
  .regex(/^(?!\.{1,2}$)[\w.:~@+=-]{1,256}$/, 'must be 1 to 256 letters, digits or characters of "_.:~@+=-"');

/** The response of `POST /v1/jobs` (specification, section 2.2). */
export const jobCreated = z.object({ job_id: z.string(), credit_hold: z.number(), credits_remaining: z.number() });
/** As our own programs read it, which store the ID and print it. */
export const receivedJobCreated = received(jobCreated, { job_id: acceptedJobId });
export type JobCreated = z.infer<typeof receivedJobCreated>;
/** As the service sent it. Only the ID is required, because without it the job is lost. */
export const sentJobCreated = asSent<JobCreated>({ job_id: z.string().min(1) });

const accepted = z.object({ state: z.literal('accepted'), account_id: z.string(), ...jobCreated.shape });
const checking = z.object({ state: z.literal('checking'), account_id: z.string() });
const incomplete = z.object({
  state: z.literal('incomplete'),
  account_id: z.string(),
  received_bytes: z
    .int()
    .min(0)
    .describe('bytes of the archive received so far; send the rest with this Upload-Offset'),
});
/** The response of `GET /v1/submissions/{key}`, for services that support keys. */
export const submissionStatus = z.discriminatedUnion('state', [
  accepted.describe('The job exists.'),
  checking.describe('The upload is complete and being checked. Ask again in a second.'),
  incomplete.describe('No job exists.'),
]);
/** As a client reads it. */
export const receivedSubmissionStatus = z.union([
  received(accepted, { state: accepted.shape.state, job_id: acceptedJobId }),
  received(checking, { state: checking.shape.state }),
  received(incomplete, { state: incomplete.shape.state, received_bytes: incomplete.shape.received_bytes }),
]);
export type SubmissionStatus = z.infer<typeof receivedSubmissionStatus>;

/** The response of `DELETE /v1/jobs/{id}`. */
export const cancellation = z.object({ job_id: z.string(), state: jobReport.shape.state });

/** The body of a response with a status of 400 or above. */
export const failure = z.object({ detail: z.string() });

/** The response of `GET /healthz`. */
export const health = z.object({
  status: z.enum(['ok', 'draining', 'degraded', 'unavailable', 'stopping']),
  version: z.string(),
  parts: z
    .record(
      z.string(),
      z.object({ status: z.enum(['ok', 'draining', 'degraded', 'unavailable']), message: z.string() }),
    )
    .optional()
    .describe('the state of each part of the service, with a sentence; absent while it is stopping'),
  proof: z.string().optional(),
});

/** One server-sent event. `data` is decoded JSON, or the text itself if it is not JSON. `id` is present if one was sent. */
export interface ServerSentEvent {
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

/** The subject of a line that the service adds after the output of a job: which results are returned, and which are not. */
export const ABOUT_RESULTS = 'results';

/** Data of the embedded service's `log` event: a piece of output, which can begin or end inside a line. `about` marks a line of the service itself. */
export const logEventData = z.looseObject({
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
  about: z.literal(ABOUT_RESULTS).optional(),
});
export type LogEventData = z.infer<typeof logEventData>;

/** Data of the embedded service's `flow` event: an event of a flow's run, see `RunEvent`. */
export const flowEventData = z.looseObject({ type: z.string(), run: z.number() });
export type FlowEventData = z.infer<typeof flowEventData>;

const amount = z.number().nonnegative();

/**
 * Data of the embedded service's `usage` event: what a job has used since the previous one. The longer the job runs, the rarer they are.
 * Other services have no such event, and fields that the machine cannot measure are absent.
 */
export const usageEventData = z.looseObject({
  at: z.string(),
  cpu_cores: amount.optional().describe('mean number of cores in use'),
  cpu_waiting: amount
    .optional()
    .describe('mean number of threads that were ready to run and had no core, because others used it'),
  memory_bytes: amount.optional().describe('highest'),
  disk_read_bytes_per_second: amount.optional(),
  disk_write_bytes_per_second: amount.optional(),
  gpus: amount.optional().describe('GPUs in use; 0.5 is half of one'),
  gpu_memory_bytes: amount.optional(),
  gpu_devices: z
    .array(z.looseObject({ gpu: z.string(), used: amount, memory_bytes: amount }))
    .optional()
    .describe('the same for each of several GPUs, by their numbers'),
});
export type UsageEventData = z.infer<typeof usageEventData>;

/** Data of the embedded service's `artifact` event: a file that the job created, with its size in bytes. */
export const artifactEventData = z.looseObject({ path: z.string(), size: z.number() });
export type ArtifactEventData = z.infer<typeof artifactEventData>;

/** Data of the embedded service's `end` event, the last of a job. */
export const endEventData = z.looseObject({
  state: jobReport.shape.state,
  exit_code: z.number().nullish(),
  credits_charged: z.number(),
  unpriced_cpus: z.number().nullish(),
  unpriced_gpus: z.number().nullish(),
});
export type EndEventData = z.infer<typeof endEventData>;
