import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { PRLIMIT } from '../../core/processes/lockLimit.ts';
import { processIdentity, type ProcessReference } from '../../core/processes/processTree.ts';

// The first file descriptors after the standard streams.
const STATUS_FD = 3;
const OPTIONS_FD = 4;
const BLOCK_FD = 5;
const MAX_REPORT_LENGTH = 64 * 1024;

/** How bwrap runs a program. */
export interface SandboxCall {
  /** Path of `bwrap`. */
  readonly program: string;
  /** Its options, including the job's variables. */
  readonly options: readonly string[];
  /** Processes and threads in the sandbox; null if a control group limits them. */
  readonly maxProcesses: number | null;
}

/**
 * The environment of every program that works on a job from outside its sandbox. It is empty, whatever the account and the service
 * have set, except for the tag of the job, because the system's loader (`LD_PRELOAD`), shells (`BASH_ENV`) and interpreters act on variables.
 */
export const NO_VARIABLES: Readonly<Record<string, string>> = {};

/** The pipes to bwrap, with the descriptors of `sandboxCommand`; the next one is that of the job's tunnel. */
export const SANDBOX_STDIO = ['pipe', 'pipe', 'pipe'] as const;

/**
 * The arguments for bwrap. Its options come through a pipe, because all users of the machine can read the command line of a
 * process, and accounts have secrets in variables.
 */
export function sandboxCommand(file: string, args: readonly string[]): readonly string[] {
  const fds = ['--json-status-fd', STATUS_FD, '--args', OPTIONS_FD, '--block-fd', BLOCK_FD].map(String);
  return [...fds, '--', file, ...args];
}

/** A sandbox during its setup. */
export interface SandboxStart {
  /** The first process in the sandbox, whose end ends all others; undefined if bwrap failed. */
  readonly init: Promise<ProcessReference | undefined>;
  /** Starts the program within its limits. */
  release(): Promise<void>;
  /** Whether the program has run, rather than bwrap failed. */
  readonly hasRun: Promise<boolean>;
}

/** Passes the options to bwrap, which then waits for `release`. @throws Error for an option that contains NUL. */
export function startSandbox({ stdio }: ChildProcess, { options, maxProcesses }: SandboxCall): SandboxStart {
  const streams: readonly unknown[] = stdio;
  const [status, optionsPipe, blockPipe] = [streams[STATUS_FD], streams[OPTIONS_FD], streams[BLOCK_FD]];
  if (!(status instanceof Readable && optionsPipe instanceof Writable && blockPipe instanceof Writable)) {
    throw new TypeError('The process was started without the pipes to bwrap.');
  }
  // A bwrap that could not be started reads nothing, and its exit reports that.
  for (const pipe of [optionsPipe, blockPipe]) pipe.on('error', () => {});
  optionsPipe.end(options.map(asOption).join(''));
  const { childPid, report } = readStatus(status);
  // The process waits for the release, so its ID is not reused yet.
  const init = childPid.then((pid) => (pid === undefined ? undefined : { pid, identity: processIdentity(pid) ?? '' }));
  return {
    init,
    hasRun: report.then((text) => text.includes('exit-code')),
    async release() {
      const first = await init;
      if (first !== undefined && maxProcesses !== null) await limitProcesses(first.pid, maxProcesses);
      blockPipe.end('\n');
    },
  };
}

/**
 * Sets the kernel's limit from outside, while the first process in the sandbox waits. A program inside would have the job's
 * variables, and a library that the job preloads could prevent it. The limit applies to each user namespace
 * (user_namespaces(7)), which every user's sandbox has except root's. Root is exempt.
 */
async function limitProcesses(pid: number, maxProcesses: number): Promise<void> {
  if (!existsSync(PRLIMIT)) return;
  const args = ['--pid', String(pid), `--nproc=${maxProcesses}`];
  await promisify(execFile)(PRLIMIT, args, { env: NO_VARIABLES, cwd: '/' });
}

/** bwrap writes JSON lines: first the ID of the first process in the sandbox, last the exit code. */
function readStatus(status: Readable): { childPid: Promise<number | undefined>; report: Promise<string> } {
  let text = '';
  const { promise: childPid, resolve: resolvePid } = Promise.withResolvers<number | undefined>();
  const { promise: report, resolve: resolveReport } = Promise.withResolvers<string>();
  status.setEncoding('utf8');
  status.on('data', (more: string) => {
    text = (text + more).slice(-MAX_REPORT_LENGTH);
    const [, pid] = /"child-pid": *(\d+)/.exec(text) ?? [];
    if (pid !== undefined) resolvePid(Number(pid));
  });
  const end = (): void => {
    resolvePid(undefined);
    resolveReport(text);
  };
  status.once('close', end);
  status.once('end', end);
  status.on('error', end);
  return { childPid, report };
}

function asOption(option: string): string {
  if (option.includes('\0')) throw new Error('an argument contains NUL');
  return `${option}\0`;
}
