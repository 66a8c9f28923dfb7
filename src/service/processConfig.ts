import { availableParallelism } from 'node:os';
import * as z from 'zod';

/** The part of the configuration that is for the executor `process` alone. */
export const processSettings = z.strictObject({
  /** Jobs that run at once; the number of cores unless said. */
  max_jobs: z.int().min(1).max(10_000).default(availableParallelism),
});
