import * as z from 'zod';
import { checkpointSchema, stepEntrySchema } from '../../../agents/records/recordSchemas.ts';

/** The folder in a job's workspace with the runtime of the flow. */
export const JOB_FOLDER = '.farwharf';

/** The request for the flow of a job, in a file in `JOB_FOLDER`. */
export const jobRequest = z.object({
  version: z.literal(1),
  /** Relative to the workspace, with `/`. */
  file: z.string(),
  flow: z.string().optional(),
  flowName: z.string().optional(),
  shared: z.record(z.string(), z.json()).optional(),
  resume: checkpointSchema.optional(),
  /** What tools did in the run that `resume` is of. */
  steps: z.array(stepEntrySchema).optional(),
  /** The answer to a `resume` that waits for one. */
  input: z.json().optional(),
});
