import * as z from 'zod';
import { JOB_STATES } from '../../../remote/protocol/schemas.ts';
import { toCredits } from '../../store/accounts/credits.ts';
import type { StoredJob } from '../../store/jobs/jobs.ts';

const time = z.iso.datetime();

/** The bodies of the service's answers: what `/openapi.json` describes. */
export const jobView = z.object({
  job_id: z.string(),
  state: z.enum(JOB_STATES),
  script: z.string(),
  project: z.string().nullable(),
  machine_class: z.string(),
  max_runtime: z.int().describe('seconds'),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  exit_code: z.int().nullable(),
  credit_hold: z.number(),
  credits_charged: z.number().nullable(),
  reason: z.string().nullable(),
});
export const jobList = z.object({ jobs: z.array(jobView) });
export const acceptedJob = z.object({ job_id: z.string(), credit_hold: z.number(), credits_remaining: z.number() });
const state = <Name extends string>(name: Name) => z.object({ state: z.literal(name), account_id: z.string() });
export const submissionStatus = z.discriminatedUnion('state', [
  acceptedJob.extend(state('accepted').shape).describe('It is a job.'),
  state('checking').describe('All of it is there and looked at. Ask again in a second.'),
  state('incomplete')
    .extend({ received_bytes: z.int().describe('of the archive: the rest goes in a request with this Upload-Offset') })
    .describe('It is no job.'),
]);
export type SubmissionStatus = z.infer<typeof submissionStatus>;
export const cancellation = z.object({ job_id: z.string(), state: z.enum(JOB_STATES) });
export const accountView = z.object({
  account_id: z.string(),
  plan: z.string(),
  credits: z.number(),
  rate_card: z.array(
    z.object({
      machine_class: z.string(),
      credits_per_minute: z.number(),
      description: z.string(),
      cpus: z.int(),
      memory_gb: z.number(),
      gpus: z.int(),
    }),
  ),
  limits: z
    .object({ max_runtime: z.int().describe('seconds'), max_upload_bytes: z.int() })
    .describe('what one submission may ask for; a job whose highest price the credits do not cover is refused'),
});
export const healthView = z.object({
  status: z.enum(['ok', 'degraded', 'stopping']),
  version: z.string(),
  problems: z.array(z.string()).optional().describe('what keeps it from taking jobs'),
  warnings: z.array(z.string()).optional().describe('what soon will'),
  proof: z.string().optional(),
});
export const failure = z.object({ detail: z.string() });

/** A job as the wire shows it. */
export function showJob(job: StoredJob): z.infer<typeof jobView> {
  return {
    job_id: job.id,
    state: job.state,
    script: job.script,
    project: job.project,
    machine_class: job.machineClass,
    max_runtime: job.maxRuntime,
    created_at: showTime(job.createdAt),
    started_at: job.startedAt === null ? null : showTime(job.startedAt),
    finished_at: job.finishedAt === null ? null : showTime(job.finishedAt),
    exit_code: job.exitCode,
    credit_hold: toCredits(job.hold),
    credits_charged: job.charged === null ? null : toCredits(job.charged),
    reason: job.reason,
  };
}

function showTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
