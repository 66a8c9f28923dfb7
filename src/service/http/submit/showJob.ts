import type * as z from 'zod';
import type { job } from '../../../remote/protocol/schemas.ts';
import { toCredits } from '../../store/accounts/credits.ts';
import type { StoredJob } from '../../store/jobs/jobs.ts';

/** The response to `GET /v1/jobs/{id}`: one cell for each field of the protocol's job. */
export function showJob(stored: StoredJob): z.infer<typeof job> {
  return {
    job_id: stored.id,
    state: stored.state,
    script: stored.script,
    project: stored.project,
    machine_class: stored.machineClass,
    max_runtime: stored.maxRuntime,
    created_at: new Date(stored.createdAt).toISOString(),
    started_at: showTime(stored.startedAt),
    finished_at: showTime(stored.finishedAt),
    exit_code: stored.exitCode,
    credit_hold: toCredits(stored.hold),
    credits_charged: stored.charged === null ? null : toCredits(stored.charged),
    reason: stored.reason,
  };
}

function showTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
