import * as z from 'zod';

// What the executor itself says to sbatch; said twice, jobs would be lost or run again.
const OWN_OPTIONS =
  /^--(job-name|comment|output|error|chdir|export|export-file|requeue|no-requeue|parsable|wait|wrap|array|time|nodes|ntasks|cpus-per-task|mem|partition|gres|hold|test-only)(=|$)/;

/** What a machine class asks of the cluster. */
export interface SlurmResources {
  readonly partition: string | undefined;
  readonly cpus: number;
  readonly memoryGb: number;
  readonly gpus: number;
  /** More arguments for `sbatch`. */
  readonly sbatch: readonly string[];
}

/** Arguments for `sbatch` that a configuration may add. */
export const sbatchArguments = z.array(
  z
    .string()
    .regex(/^--[a-z]/, 'must be a long option, like "--constraint=a100"')
    .refine((option) => !OWN_OPTIONS.test(option), 'is said by the service itself'),
);

/** The part of the configuration that is for Slurm alone. */
export const slurmSettings = z.strictObject({
  /** For the files of jobs, on a file system that the nodes share, under the same path everywhere. */
  folder: z.string().startsWith('/', 'must be an absolute path').optional(),
  /** Seconds between two questions to the controller, each for all jobs at once. */
  poll_seconds: z.number().min(0.2).max(300).default(2),
  /** Jobs that may be in the cluster at once, waiting ones included. */
  max_jobs: z.int().min(1).max(100_000).default(1_000),
  /**
   * Whether jobs begin with the environment of a login on their node instead of that of the service. It holds each job's place
   * in the cluster for about half a second longer.
   */
  login_environment: z.boolean().default(false),
  /** Node.js on the nodes of the cluster; where it is not said, the path of the one that runs the service. */
  node: z.string().startsWith('/', 'must be an absolute path').optional(),
});
