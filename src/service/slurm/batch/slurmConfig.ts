import * as z from 'zod';
import { moduleName } from '../../../remote/protocol/termValues.ts';
import { SCRIPT_KIND_NAMES } from '../../../workspace/scripts/scriptKinds.ts';
import { machineClass } from '../../config/machineClasses.ts';
import { checkContainer, containerSettings, imagePattern } from './containerConfig.ts';

// Options that the service itself passes to sbatch. A second value would lose jobs or run them twice.
const OWN_OPTIONS =
  /^--(job-name|comment|output|error|chdir|export|export-file|requeue|no-requeue|parsable|wait|wrap|array|time|nodes|ntasks|cpus-per-task|mem|partition|gres|hold|test-only)(=|$)/;
const MAX_NAMED = 100;
const NO_FOLDER =
  'the executor "slurm" keeps the files of jobs in a folder that the nodes share, apart from the data folder: write  folder = "/shared/farwharf"  below [slurm], with its path (up to now, that was the data folder: name that one, and a new --data on a disk of this machine)';

function named(option: unknown): string {
  return JSON.stringify(String(option).slice(0, MAX_NAMED));
}

const knownToCluster = z.string().regex(/^[\w.-]+$/, 'must be a name that the cluster knows');
const choices = z.array(knownToCluster).default([]);
// A job loads each of them one after the other.
const MAX_MODULES = 100;
/** A name, or the beginning of names with `*` after it. */
const modulePattern = z.union(
  [
    moduleName,
    z
      .string()
      .max(200)
      .regex(/^[\w.+/-]*\*$/),
  ],
  {
    error: 'must be the name of a module, like "cuda/12.4", or the beginning of names, like "cuda/*"',
  },
);

/** A machine class with what its jobs request from the cluster. */
export const slurmMachineClass = machineClass
  .extend({
    partition: z
      .string()
      .regex(/^[\w.-]+$/, 'must be the name of a partition')
      .optional(),
    /** More arguments for `sbatch`. */
    sbatch: z
      .array(
        z
          .string()
          .regex(/^--[a-z]/, {
            error: ({ input }) => `must be a long option, like "--constraint=a100", and not ${named(input)}`,
          })
          .refine((option) => !OWN_OPTIONS.test(option), {
            error: ({ input }) => `must not contain ${named(input)}, which the service itself sets`,
          }),
      )
      .default([]),
    /** The environment modules that each job loads before it starts, in this order. */
    modules: z.array(moduleName).max(MAX_MODULES).default([]),
    /** What the programs of jobs run in. */
    container: containerSettings.optional(),
    /** What jobs may choose themselves. */
    allow: z
      .strictObject({
        account: choices,
        qos: choices,
        constraint: z.array(z.string().regex(/^[\w.&|*()[\]-]+$/, 'must be features of nodes')).default([]),
        reservation: choices,
        modules: z.array(modulePattern).default([]),
        images: z.array(imagePattern).default([]),
      })
      .prefault({}),
  })
  .superRefine(checkContainer);
export type SlurmMachineClass = Readonly<z.infer<typeof slurmMachineClass>>;

/** How the jobs of an account are accounted for in the cluster, so that its own shares, limits and reports apply. */
const slurmAccount = z.strictObject({
  /** The person's user on this machine and on the cluster, with `submit_as = "account"`. */
  user: z
    .string()
    .regex(/^[A-Za-z_][\w.@-]*$/, 'must be the name of a user')
    .optional(),
  account: knownToCluster.optional(),
  qos: knownToCluster.optional(),
  reservation: knownToCluster.optional(),
  /** Where the cluster sends the mails that jobs of the account ask for. */
  mail: z.email().optional(),
});
export type SlurmAccount = Readonly<z.infer<typeof slurmAccount>>;

/** The section `[slurm]` of the configuration. */
export const slurmSettings = z
  .strictObject({
    /** For the files of jobs, on a file system that all nodes share under the same path. */
    folder: z.string(NO_FOLDER).startsWith('/', 'must be an absolute path'),
    /** Seconds between two calls of squeue, each for all jobs. */
    poll_seconds: z.number().min(0.2).max(300).default(2),
    /** Jobs in the cluster at once, including waiting ones. */
    max_jobs: z.int().min(1).max(100_000).default(1_000),
    /**
     * Whether jobs start with the login environment of their node instead of the service's. Each job then occupies its place in
     * the cluster for about half a second longer.
     */
    login_environment: z.boolean().default(false),
    /** Whether all jobs are submitted as the service's user, or those of each account as its own, through sudo. */
    submit_as: z.enum(['service', 'account']).default('service'),
    /** By the IDs of the service's accounts. */
    accounts: z.record(z.string(), slurmAccount).default({}),
    /**
     * Whether a person's own service stays while jobs have not ended, or only while a client is connected, for login nodes on which nothing
     * may keep running.
     */
    service: z.enum(['while-needed', 'while-connected']).default('while-needed'),
    /** The kinds of scripts that all nodes can run. Without it, clients do not know, and a job without its program fails when it starts. */
    scripts: z.array(z.enum(SCRIPT_KIND_NAMES)).optional(),
    /** Node.js on the nodes; default: the path of the one that runs the service. */
    node: z.string().startsWith('/', 'must be an absolute path').optional(),
  })
  .superRefine(({ submit_as: submitAs, accounts }, context) => {
    const [id] = Object.entries(accounts).find(([, { user }]) => user !== undefined) ?? [];
    const issue = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
    if (submitAs === 'account' && id === undefined) issue(['submit_as'], 'needs [slurm.accounts.ID] user = "…"');
    if (submitAs === 'service' && id !== undefined) issue(['accounts', id, 'user'], 'needs submit_as = "account"');
  });
export type SlurmSettings = Readonly<z.infer<typeof slurmSettings>>;
