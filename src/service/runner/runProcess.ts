import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { untilAborted } from '../../core/processes/lifetime.ts';
import { endProcesses, killProcess, type ProcessReference } from '../../core/processes/processTree.ts';
import type { ResourceLimits } from '../jobFiles/confinement.ts';
import { JOB_ID_VARIABLE, jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import type { OutputLog } from './output/outputLog.ts';
import type { ContainedProgram } from './program/containerCall.ts';
import { untilOverLimit } from './resourceWatch.ts';
import {
  NO_VARIABLES,
  SANDBOX_STDIO,
  type SandboxCall,
  type SandboxStart,
  sandboxCommand,
  startSandbox,
} from '../sandbox/sandboxStart.ts';

// bwrap reports a sandbox just after it was created; one that hangs before has none.
const SANDBOX_REPORT_WAIT_MS = 10_000;
// A process that left the group can keep the pipes open without limit; its later output is not waited for.
const PIPE_WAIT_MS = 1_000;
// A longer timer of Node.js fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;
// Shells and bwrap exit with this number plus that of the signal that ended a program.
const SIGNAL_BASE = 128;

export interface ProcessCall extends ContainedProgram {
  readonly env: Readonly<Record<string, string>>;
  /** Runs the program in a sandbox; `env` is for the program inside only. */
  readonly sandbox?: SandboxCall;
}

export interface ProcessLimits {
  readonly jobId: string;
  readonly limitMs: number;
  readonly killGraceMs: number;
  readonly resources: ResourceLimits | undefined;
  /** Its abort stops the process. */
  readonly signal: AbortSignal;
}

export interface ProcessEnd {
  readonly endedBy: 'itself' | 'limit' | 'signal' | 'resources';
  /** Which limit the process exceeded. */
  readonly detail: string | null;
  readonly code: number | null;
  readonly signal: string | null;
  readonly ranSeconds: number;
}

type Exit = Pick<ProcessEnd, 'code' | 'signal' | 'ranSeconds'>;

/**
 * Runs a program in its own process group, with its output in the log, until it and all its children have ended.
 *
 * @throws the system's error if it cannot be started, AppError `refused` if its sandbox cannot be set up.
 */
export async function runProcess(
  call: ProcessCall,
  { jobId, limitMs, killGraceMs, resources, signal }: ProcessLimits,
  { output, onStart }: { output: OutputLog; onStart?: (pid: number, init: ProcessReference | undefined) => void },
): Promise<ProcessEnd> {
  const child = spawnCall(call, jobId);
  const isSandboxed = call.sandbox !== undefined;
  const startedAt = performance.now();
  child.stdout?.on('data', (bytes: Buffer) => output.append('stdout', bytes));
  child.stderr?.on('data', (bytes: Buffer) => output.append('stderr', bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, exitSignal) =>
      resolve({ code, signal: exitSignal, ranSeconds: (performance.now() - startedAt) / 1000 }),
    );
  });
  exited.catch(() => {}); // awaited below
  const settled = new AbortController();
  const never = new Promise<never>(() => {});
  let sandbox: SandboxStart | undefined;
  let detail: string | null = null;
  let endedBy: ProcessEnd['endedBy'];
  try {
    const noteStart = (init?: ProcessReference): void => {
      if (child.pid !== undefined) onStart?.(child.pid, init);
    };
    sandbox = call.sandbox && startSandbox(child, call.sandbox);
    if (sandbox === undefined) noteStart();
    endedBy = await Promise.race([
      exited.then(() => 'itself' as const),
      untilLimit(limitMs, settled.signal),
      untilAborted(signal).then(() => 'signal' as const),
      resources === undefined || child.pid === undefined
        ? never
        : untilOverLimit(child.pid, resources, settled.signal).then((sentence) => {
            detail = sentence ?? null;
            return sentence === undefined ? never : ('resources' as const);
          }),
      sandbox === undefined ? never : begin(sandbox, noteStart).then(() => never),
    ]);
  } catch (error) {
    // The folder is gone or full, or a limit cannot be set. A program without a record or without limits must not run.
    await endAll(child, { jobId, sandbox, graceMs: 0 });
    child.stdout?.destroy();
    child.stderr?.destroy();
    throw error;
  } finally {
    settled.abort();
  }
  // A program that exceeds its resources gets no time to use more.
  await endAll(child, { jobId, sandbox, graceMs: endedBy === 'resources' ? 0 : killGraceMs });
  const end = isSandboxed ? insideOf(await exited) : await exited;
  await Promise.race([closed, sleep(PIPE_WAIT_MS, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (endedBy === 'itself' && sandbox !== undefined && !(await sandbox.hasRun)) {
    const message = "The job's sandbox could not be set up. The end of the log has the cause.";
    throw new AppError('refused', message);
  }
  return { ...end, endedBy, detail };
}

function spawnCall({ file, args, cwd, env, sandbox }: ProcessCall, jobId: string): ChildProcess {
  const options = { detached: process.platform !== 'win32', windowsHide: true };
  if (sandbox === undefined) return spawn(file, args, { ...options, cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return spawn(sandbox.program, sandboxCommand(file, args), {
    ...options,
    cwd: '/',
    // Used to find it if this process is killed before it knows the sandbox's first process.
    env: { ...NO_VARIABLES, [JOB_ID_VARIABLE]: jobId },
    stdio: ['ignore', 'pipe', 'pipe', ...SANDBOX_STDIO],
  });
}

/** Waits for any number of milliseconds. @throws the signal's reason on abort. */
async function untilLimit(limitMs: number, signal: AbortSignal): Promise<'limit'> {
  const deadline = performance.now() + limitMs;
  for (let left = limitMs; left > 0; left = deadline - performance.now()) {
    await sleep(Math.min(left, MAX_TIMER_MS), undefined, { signal });
  }
  return 'limit';
}

/** Records the start of the program just before it. */
async function begin(sandbox: SandboxStart, noteStart: (init?: ProcessReference) => void): Promise<void> {
  const init = await sandbox.init;
  if (init === undefined) return; // bwrap failed, and its exit reports that
  noteStart(init);
  await sandbox.release();
}

async function endAll(
  child: ChildProcess,
  { jobId, sandbox, graceMs }: { jobId: string; sandbox: SandboxStart | undefined; graceMs: number },
): Promise<void> {
  if (sandbox === undefined) return endProcesses({ group: child.pid, mark: jobProcessTag(jobId) }, graceMs);
  const init = await Promise.race([sandbox.init, sleep(SANDBOX_REPORT_WAIT_MS, undefined, { ref: false })]);
  // The end of a sandbox's first process ends all others in it, so bwrap is stopped last.
  if (graceMs > 0) await endProcesses({ init }, graceMs);
  child.kill('SIGKILL'); // does nothing if bwrap's process ID was reused
  // Hundreds of processes take a while to end, and the job ends after them.
  if (graceMs === 0) await endProcesses({ init }, 0);
  // It may not have started the program yet, and would do so once this process has ended and its pipe is closed.
  if (init !== undefined) killProcess(init);
}

/** How the program inside a sandbox ended, according to bwrap's exit code. */
function insideOf(end: Exit): Exit {
  const number = (end.code ?? 0) - SIGNAL_BASE;
  const [signal] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return signal === undefined ? end : { ...end, code: null, signal };
}
