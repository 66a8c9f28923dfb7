import * as z from 'zod';
import { absolutePath } from '../config/configSections.ts';
import { machineClass, machineClassList } from '../config/machineClasses.ts';

export const MAX_GPUS = 1_024;

/** The machine classes of this executor. */
export const processClasses = machineClassList(
  machineClass.extend({
    /** Its jobs reserve nothing: all of them have the whole machine together, as many as `max_jobs`. */
    shared: z.boolean().optional(),
  }),
);

/** The section `[process]` of the configuration. */
export const processSettings = z.strictObject({
  /** Jobs that run at once; default: the number of cores. */
  max_jobs: z.int().min(1).max(10_000).optional(),
  /** `auto` isolates jobs if bubblewrap works, `bubblewrap` refuses to start if it does not, `none` never isolates, even with several accounts. */
  isolation: z.enum(['auto', 'bubblewrap', 'none']).default('auto'),
  /** What isolated jobs can read besides the system: data sets, interpreters outside it. */
  read_only: z.array(absolutePath).default([]),
  /** What isolated jobs can write besides their own folders: shared caches. */
  writable: z.array(absolutePath).default([]),
  /** Whether isolated jobs can use the network. */
  network: z.boolean().default(true),
  /** Processes and threads of one job. */
  max_processes: z.int().min(16).max(4_000_000).default(4096),
  /** By how much the processes of jobs yield to others, the service among them (nice(1)); from 1 on they yield the disk too. */
  nice: z.int().min(0).max(19).default(5),
  /** On Linux, no job starts while less memory is available. */
  min_free_memory_gb: z.number().min(0).default(0.5),
  /** The GPUs that jobs can have: how many, or their numbers or UUIDs; default: those of the machine. */
  gpus: z
    .union([
      z.int().min(0).max(MAX_GPUS),
      z
        .array(z.string().regex(/^[\w.:/-]{1,80}$/, 'must be numbers or UUIDs of GPUs'))
        .max(MAX_GPUS)
        .refine((ids) => new Set(ids).size === ids.length, 'must not name a GPU twice'),
    ])
    .optional(),
  /** The largest file that a job can write; default: no limit. */
  max_file_gb: z.number().positive().optional(),
});
export type ProcessSettings = z.infer<typeof processSettings>;
