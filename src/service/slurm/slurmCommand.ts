import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { textField } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { allowedEnvironment } from '../../core/processes/childEnvironment.ts';
import { asUser, type ClusterUser } from './clusterUsers.ts';

const run = promisify(execFile);
const MAX_WORDS = 2_000;
// The lines of some hundred thousand jobs of the service's users.
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
// Slurm's own programs wait 9 to 18 seconds for a controller that is down, and much longer for one that hangs.
const TIMEOUT_MS = 20_000;
// The system's words for network errors, and Slurm's for the same and for a controller that does not accept requests now (slurm_errno.c of
// its sources).
const NO_ANSWER = new RegExp(
  [
    'Connection (refused|reset|timed out)|Broken pipe|connection abort|No route to host|Network is (down|unreachable)|Host is (down|unreachable)',
    'Unable to contact slurm controller|Communication (connection|shutdown) failure|Message (send|receive) failure|Socket timed out',
    'Zero Bytes were transmitted|Header lengths are longer|Transport endpoint|in standby mode',
    'temporarily unable to accept|Resource temporarily unavailable',
  ].join('|'),
  'i',
);
// No request has reached the cluster: its programs have no configuration here, or munge does not authenticate this machine.
const NO_ACCESS =
  /Could not establish a configuration source|Unable to process configuration file|Unable to establish control\w* (machine )?address|Munge encode failed|authentication (error|credential)/i;
const FULL_QUEUE = /MaxSubmitJob|MaxJobCount/;
// Slurm may also print a warning about the name of this machine, which is not a refusal.
const SUDO = /^sudo: (?!unable to resolve host)/m;

export type SlurmProgram = 'sbatch' | 'srun' | 'squeue' | 'sacct' | 'sacctmgr' | 'scancel' | 'scontrol' | 'sinfo';

export interface SlurmCall {
  readonly signal?: AbortSignal;
  /** By default it runs as the service's own user. */
  readonly user?: ClusterUser | undefined;
  /** More output than this is an error. */
  readonly maxBytes?: number;
}

/**
 * Runs one of Slurm's programs and returns its output.
 *
 * @throws AppError `missing` if it is not installed, `unreachable` if the cluster does not respond or accepts no more jobs now
 * (it may have accepted a job nevertheless), or sudo does not allow it, `refused` with the cluster's own message.
 */
export async function slurm(
  program: SlurmProgram,
  args: readonly string[],
  { signal, user, maxBytes = MAX_ANSWER_BYTES }: SlurmCall = {},
): Promise<string> {
  const [file, ...words] = commandFor(program, args, user);
  try {
    const { stdout } = await run(file, words, {
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: maxBytes,
      env: environmentForSlurm(program),
      ...(signal && { signal }),
    });
    return stdout;
  } catch (cause) {
    signal?.throwIfAborted();
    throw slurmFailure(program, cause, user);
  }
}

/** Starts one of Slurm's programs, with pipes to its standard streams. `slurmFailure` explains what it prints. */
export function startSlurm(
  program: SlurmProgram,
  args: readonly string[],
  user: ClusterUser,
): ChildProcessWithoutNullStreams {
  const [file, ...words] = commandFor(program, args, user);
  return spawn(file, words, { env: environmentForSlurm(program), stdio: ['pipe', 'pipe', 'pipe'] });
}

function commandFor(
  program: SlurmProgram,
  args: readonly string[],
  user: ClusterUser | undefined,
): readonly [string, ...string[]] {
  return user?.isPerson === true ? asUser(user.name, program, args) : [program, ...args];
}

/**
 * The variables that sbatch may see, because jobs get them, and those for reaching the cluster. Variables that filter the output of
 * squeue and the others are left out, because hidden jobs would count as lost. Times that are read have the form of ISO 8601.
 */
function environmentForSlurm(program: SlurmProgram): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => /^(SLURM|SBATCH)_/.test(name));
  const times = program === 'sbatch' ? {} : { SLURM_TIME_FORMAT: 'standard' };
  return { ...allowedEnvironment(process.env), ...Object.fromEntries(own), ...times };
}

/** What the failure of one of Slurm's programs means, from its `stderr`. */
export function slurmFailure(program: SlurmProgram, cause: unknown, user: ClusterUser | undefined): AppError {
  const stderr = textField(cause, 'stderr') ?? '';
  const isSudo = user?.isPerson === true && (SUDO.test(stderr) || systemCode(cause) === 'ENOENT');
  if (isSudo) {
    const words = clusterWords(stderr) || 'sudo was not found';
    const message = `${program} cannot be run as ${user.name}: ${words}. sudo needs a rule, which farwharf serve --check prints.`;
    return new AppError('unreachable', message, { cause });
  }
  if (systemCode(cause) === 'ENOENT') {
    const message = `${program} was not found. Install Slurm's client programs on this machine (on Debian and Ubuntu the package slurm-client), or serve with --executor process.`;
    return new AppError('missing', message, { cause });
  }
  if (systemCode(cause) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return new AppError('unreachable', `The cluster's answer to ${program} is too long to be read.`, { cause });
  }
  if (cause instanceof Error && 'killed' in cause && cause.killed === true) {
    return new AppError('unreachable', `The cluster did not answer ${program} for ${TIMEOUT_MS / 1000} s.`, { cause });
  }
  const words = clusterWords(stderr) || printableLine(messageOf(cause)).slice(0, MAX_WORDS);
  if (NO_ANSWER.test(words)) return new AppError('unreachable', `The cluster does not answer: ${words}`, { cause });
  if (NO_ACCESS.test(words)) {
    const meaning =
      "Slurm's programs on this machine have no valid configuration (slurm.conf, SLURM_CONF) or login (munge)";
    return new AppError('unreachable', `The cluster cannot be asked: ${meaning}: ${words}`, { cause });
  }
  if (FULL_QUEUE.test(words)) return new AppError('unreachable', `The cluster takes no more jobs: ${words}`, { cause });
  return new AppError('refused', `The cluster refused: ${words}`, { cause });
}

/** Rethrows the failure of a submission. A refusal also says what the person who submitted the job can do. */
export function refusedAs(machineClass: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof AppError) || error.code !== 'refused') throw error;
    const remedy = `Choose another machine class than ${machineClass}, or show this to the operator of the service: farwharf serve --check names it too.`;
    throw new AppError('refused', `${error.message.replace(/[.\s]*$/, '.')} ${remedy}`, { cause: error });
  };
}

/** The beginning of what a program wrote to standard error, in one line and without the program's name before each message. */
function clusterWords(stderr: string): string {
  const lines = stderr
    .slice(0, MAX_WORDS)
    .split('\n')
    .map((line) => line.replace(/^\w+: (error: )?/, '').trim());
  return printableLine(lines.filter((line) => line !== '').join('; '));
}
