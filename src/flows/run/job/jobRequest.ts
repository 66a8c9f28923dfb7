import * as z from 'zod';
import { checkpointSchema } from '../../../agents/run/schemas.ts';

/** The folder in a job's workspace that holds what a flow needs to run there. */
export const JOB_FOLDER = '.farwharf';
/** Where a job leaves its run, in the folder of its results. */
export const JOB_RUN_FOLDER = 'farwharf-flow';

/** What a job is told of its flow, in a file of `JOB_FOLDER`. */
export const jobRequest = z.object({
  version: z.literal(1),
  /** Relative to the workspace, with `/`. */
  file: z.string(),
  flow: z.string().optional(),
  shared: z.record(z.string(), z.json()).optional(),
  resume: checkpointSchema.optional(),
});

export type JobRequest = z.infer<typeof jobRequest>;
