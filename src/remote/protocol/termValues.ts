import { posix } from 'node:path';
import * as z from 'zod';

/** The longest time limit that a job may have: 30 days. */
export const MAX_RUNTIME_SECONDS = 30 * 24 * 3600;

export const MAX_RUNTIME_REFUSAL = `must be at most ${MAX_RUNTIME_SECONDS} seconds (30 days)`;

// A third of the kernel's limit for all arguments and variables of a program (execve(2), with a stack of 8 MB), and its limit for
// one of them. Without this check, the job would fail only when it starts.
const MAX_VARIABLES = 1_000;
const MAX_VARIABLE_BYTES = 128 * 1024 - 1;
const MAX_VARIABLES_BYTES = 640 * 1024;

export const singleLine = z.string().regex(/^[^\r\n\0]*$/, 'must be one line, without NUL');
const requirementsFile = singleLine
  .min(1)
  .refine((path) => isInside(posix.normalize(path)), 'must be a path inside the folder');
const variables = z
  .record(
    z.string().regex(/^(?!FARWHARF_)[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name that the service does not use'),
    z.string().regex(/^[^\0]*$/, 'must not contain NUL'),
  )
  .refine((env) => Object.keys(env).length <= MAX_VARIABLES, `must be at most ${MAX_VARIABLES} variables`)
  .refine(
    (env) => Object.entries(env).every((variable) => bytesOf(variable) <= MAX_VARIABLE_BYTES),
    'must be below 128 KB for each variable',
  )
  .refine(
    (env) => Object.entries(env).reduce((sum, variable) => sum + bytesOf(variable), 0) <= MAX_VARIABLES_BYTES,
    'must be below 640 KB for all variables together',
  );

/** The structure of `venv`, which the specification does not define. */
export const virtualEnvironment = z.strictObject({
  python: z
    .string()
    .regex(/^(python)?\d(\.\d+)*$/, 'must be a version or a command, like "3.12" or "python3.12"')
    .transform((name) => (name.startsWith('python') ? name : `python${name}`))
    .optional(),
  requirements: z.union([z.array(singleLine.min(1)), requirementsFile]).optional(),
  keep: z
    .boolean()
    .describe(
      'false builds the environment for this job only; by default, later jobs with the same packages use it too',
    )
    .optional(),
  env: variables.optional(),
});

const MAX_MODULES = 100;
const clusterChoice = singleLine.min(1).max(200).optional();

/** The name of an environment module. Neither an option of the command `module` nor the path of a file, which it would load too. */
export const moduleName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_][\w.+-]*(\/[A-Za-z0-9_][\w.+-]*)*$/, 'must be the name of a module, like "cuda/12.4"');

/** Where the image of a container can be fetched. Others, such as `instance`, are no images but containers that run. */
export const SCHEMES = 'docker|oras|library|https';
/** The image of a container: the absolute path of a file, an address, or for Pyxis `REGISTRY#NAME`. */
export const imageName = z
  .string()
  .max(1000)
  .regex(
    new RegExp(String.raw`^(?!.*(?:^|/)\.\.?(?:/|$))(?:/|(?:${SCHEMES})://|[\w.-]+(?::\d+)?#)[\w./:@#+-]*$`),
    'must be the absolute path of an image, or an address like "docker://debian:12"',
  );

/** What a job asks of the cluster that runs it. Its machine class says which values it may choose. */
export const clusterOptions = z.strictObject({
  account: clusterChoice,
  qos: clusterChoice,
  constraint: clusterChoice,
  reservation: clusterChoice,
  modules: z
    .array(moduleName)
    .max(MAX_MODULES, `must be at most ${MAX_MODULES} names`)
    .describe('environment modules to load before the script starts, after those of the machine class')
    .optional(),
  container: imageName.describe('the image of the container that the job runs in').optional(),
  mail: z
    .boolean()
    .describe('a mail from the cluster at the end, to the address that the operator has stored')
    .optional(),
});
export type ClusterOptions = z.infer<typeof clusterOptions>;

/** Whether a job may find more programs than the machine has: in its packages, modules or container. */
export function bringsPrograms({
  venv,
  cluster,
}: {
  readonly venv?: Readonly<Record<string, unknown>> | undefined;
  readonly cluster?: ClusterOptions | undefined;
}): boolean {
  return venv?.['requirements'] !== undefined || cluster?.modules !== undefined || cluster?.container !== undefined;
}

/** Whether a normalized relative path stays inside its folder. */
export function isInside(path: string): boolean {
  return !posix.isAbsolute(path) && path !== '..' && !path.startsWith('../');
}

/** The size of a variable as passed to a program: `NAME=value` and a NUL. */
function bytesOf([name, value]: [string, string]): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
}
