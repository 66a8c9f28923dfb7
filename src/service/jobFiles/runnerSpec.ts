import * as z from 'zod';
import { JOB_TERMS, type Submission, termsWith, type TermWith, wireName } from '../../remote/protocol/jobTerms.ts';
import { DEFAULT_MAX_LOG_BYTES } from './jobFolder.ts';

const virtualEnvironmentSpec = z.object({
  /** The command (`python3.11`) that creates the environment. */
  python: z.string().optional(),
  /** Lines for pip, or the path of a file in the workspace that lists packages. */
  requirements: z.union([z.string(), z.array(z.string()).readonly()]).optional(),
  /** Whether later jobs may use what this one builds; true by default. */
  keep: z.boolean().optional(),
  env: z.record(z.string(), z.string()).readonly().optional(),
});

const runnerSpec = z.object({
  jobId: z.string(),
  /** What `command` begins with: the path of a script, relative to the workspace, or any program. */
  runs: z.enum(['script', 'command']).default('script'),
  /** With its arguments. */
  command: z.tuple([z.string()], z.string()).readonly(),
  maxRuntimeSeconds: z.number(),
  killGraceMs: z.number(),
  /** How much of the output is stored, as `OutputLog` counts it. */
  maxLogBytes: z.number().default(DEFAULT_MAX_LOG_BYTES),
  /** The folder for results, relative to the workspace. */
  artifacts: z.string(),
  venv: virtualEnvironmentSpec.readonly().nullable(),
  /** The name of the folder of environments that are kept for later jobs of the account, or of its key; absent if none are. */
  environments: z
    .string()
    .regex(/^[0-9a-f]{32}(?:-[0-9a-f]{16})?$/)
    .optional(),
  ...termsShape(),
});

type RunnerTerm = TermWith<'isForRunner'>;

function termsShape(): { [Name in RunnerTerm]: (typeof JOB_TERMS)[Name]['accepted'] };
function termsShape(): z.ZodRawShape {
  return Object.fromEntries(termsWith('isForRunner').map((name) => [name, JOB_TERMS[name].accepted]));
}

/** The terms of a submission for its runner, with each entry of a list once. */
export function runnerTerms(submission: Submission): Pick<RunnerSpec, RunnerTerm>;
export function runnerTerms(submission: Readonly<Record<string, unknown>>): object {
  const terms = termsWith('isForRunner').map((name) => {
    const value = submission[wireName(name)];
    return [name, Array.isArray(value) ? [...new Set(value)] : value] as const;
  });
  return Object.fromEntries(terms.filter(([, value]) => value !== undefined));
}

export type VirtualEnvironmentSpec = Readonly<z.infer<typeof virtualEnvironmentSpec>>;
/** What the runner of a job runs. */
export type RunnerSpec = Readonly<z.infer<typeof runnerSpec>>;

/**
 * Returns the runner spec that the service stored as JSON.
 *
 * @throws the parser's or the schema's error for anything else.
 */
export function parseRunnerSpec(text: string): RunnerSpec {
  return runnerSpec.parse(JSON.parse(text));
}
