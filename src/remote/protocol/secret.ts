import * as z from 'zod';

/** The feature of a service that stores secrets, in `features` of `GET /v1/me`. */
export const SECRETS_FEATURE = 'secrets';
/** The feature of a service that removes the values of secrets from results if the account asks for that. */
export const REDACTED_RESULTS_FEATURE = 'redacted-results';
/** How many secrets one job can get. */
export const MAX_JOB_SECRETS = 16;
// Shorter values occur in ordinary output too, which would be garbled.
const MIN_BYTES = 4;
const MAX_BYTES = 32 * 1024;

// Variables that change how programs are loaded or what they run, and those that belong to the service, to Slurm or to the system.
const CHANGES_PROGRAMS = new RegExp(
  '^(?:LD_.*|DYLD_.*|FARWHARF_.*|SLURM_.*|SBATCH_.*|SRUN_.*|PYTHON.*|PERL.*|RUBY(?:OPT|LIB)|LUA_.*|BASH_.*|BASHOPTS|SHELLOPTS|' +
    'NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|V8_COVERAGE)|ELECTRON_.*|PATH|HOME|SHELL|USER|LOGNAME|PWD|OLDPWD|ENV|IFS|CDPATH|PS[0-4]|PROMPT_COMMAND|' +
    'TMPDIR|TMP|TEMP|VIRTUAL_ENV|CONDA_.*|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|LOCALDOMAIN|MALLOC_.*|' +
    'JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH|DOTNET_.*|COR_.*|CORECLR_.*|GIT_(?:SSH.*|EXEC_PATH|CONFIG.*|PROXY_COMMAND|' +
    'EXTERNAL_DIFF|EDITOR|PAGER|ASKPASS|DIR|TEMPLATE_DIR)|SSH_ASKPASS|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|TERMINFO.*|TERMCAP|' +
    'OPENSSL_.*|SSL_CERT_.*|CUDA_VISIBLE_DEVICES)$',
);

/** Why the name or the value of a secret is refused, after "it". */
export const SECRET_REFUSALS = {
  length: 'must have at most 64 characters',
  characters: 'must be capital letters, digits and "_", and not begin with a digit',
  changesPrograms: 'is a variable that changes which programs run or how they load',
  nul: 'must not contain NUL',
  short: `must have at least ${MIN_BYTES} characters`,
  long: `must have at most ${MAX_BYTES / 1024} KB`,
} as const;

/** The name of a secret, which is that of a variable of the job. */
export const secretName = z
  .string()
  .max(64, SECRET_REFUSALS.length)
  .regex(/^[A-Z_][A-Z0-9_]*$/, SECRET_REFUSALS.characters)
  .refine((name) => !CHANGES_PROGRAMS.test(name), SECRET_REFUSALS.changesPrograms);

/** The value of a secret. No message repeats it. */
export const secretValue = z
  .string()
  .refine((value) => !value.includes('\0'), SECRET_REFUSALS.nul)
  .refine((value) => Buffer.byteLength(value) >= MIN_BYTES, SECRET_REFUSALS.short)
  .refine((value) => Buffer.byteLength(value) <= MAX_BYTES, SECRET_REFUSALS.long);

const redactResults = z
  .boolean()
  .optional()
  .describe(
    'Whether the value is removed from text files among the results of jobs that get the secret; absent: as before',
  );
const storedSecret = z.object({ name: z.string(), changed_at: z.iso.datetime(), redact_results: redactResults });
export type StoredSecret = z.infer<typeof storedSecret>;

/** The path of one secret. */
export function secretPath(name: string): string {
  return `/v1/secrets/${encodeURIComponent(name)}`;
}

/** The body of `PUT /v1/secrets/{name}`. */
export const secretBody = z.object({ value: secretValue, redact_results: redactResults });
/** The response of `GET /v1/secrets`. No request returns a value. */
export const secretList = z.object({ secrets: z.array(storedSecret) });
/** The response of `PUT` and `DELETE /v1/secrets/{name}`. */
export const secretChange = z.object({ name: z.string() });
