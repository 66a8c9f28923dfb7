import * as z from 'zod';

/** The section `[logs]` of the configuration: the output of jobs. */
export const jobLogSettings = z.strictObject({
  /** What is kept of one job's output, counted as it is stored; its last part is kept beside. */
  max_mb_per_job: z.number().min(0.1).max(10_000).default(64),
});
