import { isAbsolute } from 'node:path';
import * as z from 'zod';

const absolutePath = z.string().refine(isAbsolute, 'must be an absolute path');

/** The part of the configuration that is for the executor `process` alone. */
export const processSettings = z.strictObject({
  /** Jobs that run at once; the number of cores unless said. */
  max_jobs: z.int().min(1).max(10_000).optional(),
  /** `auto` isolates jobs where bubblewrap works, `bubblewrap` refuses to start where it does not, `none` lets several accounts run jobs without. */
  isolation: z.enum(['auto', 'bubblewrap', 'none']).default('auto'),
  /** What isolated jobs can read beside the system: data sets, interpreters outside of it. */
  read_only: z.array(absolutePath).default([]),
  /** What isolated jobs can write beside their own folders: shared caches. */
  writable: z.array(absolutePath).default([]),
  /** Whether isolated jobs have the network. */
  network: z.boolean().default(true),
  /** Processes and threads that one job may have at once. */
  max_processes: z.int().min(16).max(4_000_000).default(4096),
  /** The largest file that a job may write; any unless said. */
  max_file_gb: z.number().positive().optional(),
});
export type ProcessSettings = z.infer<typeof processSettings>;
