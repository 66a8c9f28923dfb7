import * as z from 'zod';

const days = z.number().positive();

/** The section `[retention]` of the configuration: what is kept for how long, and how much of the disk may be taken. */
export const retentionSettings = z
  .strictObject({
    /** The log of a job goes this many days after its end; never unless given. Its row and its credits stay. */
    days: days.optional(),
    /** Its results go this many days after its end; with the log unless given. */
    results_days: days.optional(),
    /** The results of all jobs together; the oldest go first. No limit unless given. */
    max_total_gb: z.number().positive().optional(),
    /** Below this much free space no job is taken, so that those that run can end well. */
    min_free_gb: z.number().min(0).default(1),
  })
  .refine(({ days: log, results_days: results }) => log === undefined || results === undefined || results <= log, {
    path: ['results_days'],
    message: 'must not be more than days',
  });
