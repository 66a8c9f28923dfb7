import type * as z from 'zod';
import { job } from '../../../remote/protocol/schemas.ts';
import { toCredits } from '../../store/accounts/credits.ts';
import { jobColumns, type StoredJob } from '../../store/jobs/jobs.ts';

/**
 * The response to `GET /v1/jobs/{id}`. A field of the protocol's job has the value of the column with its name, a time (`…_at`) in ISO
 * 8601; only the ID and the credits have columns of their own kind.
 */
export function showJob(stored: StoredJob): z.infer<typeof job> {
  const { id, hold, charged } = stored;
  const columns = Object.entries(jobColumns(stored)).map(([name, value]) => [name, shown(name, value)]);
  return job.parse({
    ...Object.fromEntries(columns),
    job_id: id,
    credit_hold: toCredits(hold),
    credits_charged: charged === null ? null : toCredits(charged),
  });
}

function shown(name: string, value: unknown): unknown {
  return name.endsWith('_at') && typeof value === 'number' ? new Date(value).toISOString() : value;
}
