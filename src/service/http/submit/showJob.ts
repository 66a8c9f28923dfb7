import type * as z from 'zod';
import type { job } from '../../../remote/protocol/schemas.ts';
import { toCredits } from '../../store/accounts/credits.ts';
import type { StoredJob } from '../../store/jobs/jobs.ts';

/** A job as the wire shows it. */
export function showJob(stored: StoredJob): z.infer<typeof job> {
  return {
    job_id: stored.id,
    state: stored.state,
    script: stored.script,
    project: stored.project,
    machine_class: stored.machineClass,
    max_runtime: stored.maxRuntime,
    created_at: showTime(stored.createdAt),
    started_at: stored.startedAt === null ? null : showTime(stored.startedAt),
    finished_at: stored.finishedAt === null ? null : showTime(stored.finishedAt),
    exit_code: stored.exitCode,
    credit_hold: toCredits(stored.hold),
    credits_charged: stored.charged === null ? null : toCredits(stored.charged),
    reason: stored.reason,
  };
}

function showTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
