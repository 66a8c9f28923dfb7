import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { constants as system } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { untilAborted } from '../../core/processes/lifetime.ts';
import {
  askToEnd,
  endProcesses,
  killProcess,
  type ProcessReference,
  untilStopped,
} from '../../core/processes/processTree.ts';
import { readText } from '../../core/processes/procfs.ts';
import { newLockLimit } from '../../core/processes/lockLimit.ts';
import { type JobCgroup, killCgroup } from '../cgroups/jobCgroup.ts';
import type { Confinement } from '../jobFiles/confinement.ts';
import { JOB_ID_VARIABLE, jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import type { OutputLog } from './output/outputLog.ts';
import type { ContainedProgram } from './program/containerCall.ts';
import { assertStarts } from './program/programFile.ts';
import type { StoppableJob } from './debug/jobStop.ts';
import type { JobFreezer } from './debug/jobFreezer.ts';
import { markedProcesses } from './usage/jobProcesses.ts';
import type { JobTunnel } from './tunnel/jobTunnel.ts';
import { withWaiter } from './tunnel/sandboxWaiter.ts';
import { kernelsVerdict, untilOverLimit } from './resourceWatch.ts';
import { restrained, startRestrained } from './restraints.ts';
import {
  NO_VARIABLES,
  SANDBOX_STDIO,
  type SandboxCall,
  type SandboxStart,
  sandboxCommand,
  startSandbox,
} from './sandboxStart.ts';

// A machine that is so busy that this is too short starts no job in time.
const SANDBOX_START_MS = 10 * 60_000;
// bwrap reports a sandbox just after it was created; one that hangs before has none.
const SANDBOX_REPORT_WAIT_MS = 10_000;
// The kernel ends a sandbox with its first process. Thousands of others take seconds.
const SANDBOX_END_MS = 30_000;
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
  readonly confinement: Confinement | undefined;
  /** Its abort stops the process. */
  readonly signal: AbortSignal;
}

/** What hears of a program while it runs. */
interface ProcessWatch {
  readonly output: OutputLog;
  readonly onStart?: (pid: number, init: ProcessReference | undefined) => void;
  /** Lets clients in beside the program; undefined if none may connect. */
  readonly tunnel?: { readonly open: JobTunnel; readonly program: string } | undefined;
  /** Freezes the program where it fails; undefined if nobody debugs it. */
  readonly freezer?: JobFreezer | undefined;
}

export interface ProgramEnd {
  readonly endedBy: 'itself' | 'limit' | 'signal' | 'resources';
  /** Which limit the process exceeded. */
  readonly detail: string | null;
  readonly code: number | null;
  readonly signal: string | null;
  /** Without the time that it was frozen and computed nothing. */
  readonly ranSeconds: number;
  readonly frozenSeconds: number;
}

type Exit = Pick<ProgramEnd, 'code' | 'signal' | 'ranSeconds' | 'frozenSeconds'>;

/**
 * Runs a program in its own process group, with its output in the log, until it and all its children have ended.
 *
 * @throws the system's error if it cannot be started, AppError `refused` if its sandbox cannot be set up.
 */
export async function runProcess(
  call: ProcessCall,
  { jobId, limitMs, killGraceMs, confinement, signal }: ProcessLimits,
  { output, onStart, tunnel, freezer }: ProcessWatch,
): Promise<ProgramEnd> {
  const spawnedAt = performance.now();
  const child = startRestrained(confinement, () => spawnCall(call, { jobId, confinement, tunnel: tunnel?.program }));
  const cgroup = confinement?.cgroup ?? undefined;
  // A busy machine can take seconds to prepare a sandbox, which is not the job's time.
  const started = Promise.withResolvers<void>();
  let startedAt: number | undefined;
  child.stdout?.on('data', (bytes: Buffer) => output.append('stdout', bytes));
  child.stderr?.on('data', (bytes: Buffer) => output.append('stderr', bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, exitSignal) => {
      const frozenSeconds = (freezer?.times.idleMs ?? 0) / 1000;
      const ranSeconds = Math.max(0, secondsSince(startedAt) - frozenSeconds);
      resolve({ code, signal: exitSignal, ranSeconds, frozenSeconds });
    });
  });
  exited.catch(() => {}); // awaited below
  const settled = new AbortController();
  const never = new Promise<never>(() => {});
  let sandbox: SandboxStart | undefined;
  let detail: string | null = null;
  let endedBy: ProgramEnd['endedBy'];
  let entrance: AsyncDisposable | undefined;
  try {
    const noteStart = (at: number, init?: ProcessReference): void => {
      startedAt = at;
      started.resolve();
      entrance = tunnel && openTunnelOf(child, call, { jobId, confinement, tunnel: tunnel.open });
      if (child.pid === undefined) return;
      onStart?.(child.pid, init);
      freezer?.start(stoppableJob(child.pid, tunnel, sandbox));
    };
    sandbox = call.sandbox && startSandbox(child, call.sandbox);
    // Without a sandbox, the program has begun by now.
    if (sandbox === undefined) noteStart(spawnedAt);
    endedBy = await Promise.race([
      exited.then(() => 'itself' as const),
      untilLimit(limitMs, { started: started.promise, freezer }, settled.signal),
      untilAborted(signal).then(() => 'signal' as const),
      confinement === undefined || child.pid === undefined
        ? never
        : untilOverLimit(rootsOf(child.pid, tunnel), confinement, settled.signal).then((sentence) => {
            if (sentence === undefined) return never;
            detail = sentence;
            return 'resources' as const;
          }),
      sandbox === undefined ? never : begin(sandbox, noteStart).then(() => never),
    ]);
  } catch (error) {
    // The folder is gone or full, or a limit cannot be set. A program without a record or without limits must not run.
    await freezer?.[Symbol.asyncDispose]();
    await entrance?.[Symbol.asyncDispose]();
    await endAll(child, { jobId, sandbox, cgroup, graceMs: 0 });
    child.stdout?.destroy();
    child.stderr?.destroy();
    throw error;
  } finally {
    settled.abort();
  }
  const verdict = confinement && kernelsVerdict(confinement);
  if (endedBy === 'itself' && verdict !== undefined) [endedBy, detail] = ['resources', verdict];
  await freezer?.[Symbol.asyncDispose]();
  await entrance?.[Symbol.asyncDispose]();
  // A program that exceeds its resources gets no time to use more.
  await endAll(child, { jobId, sandbox, cgroup, graceMs: endedBy === 'resources' ? 0 : killGraceMs });
  const own = await exited;
  const end = sandbox === undefined ? own : insideOf(own);
  await Promise.race([closed, sleep(PIPE_WAIT_MS, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (endedBy === 'itself' && end.signal === 'SIGKILL') endedBy = killedBecause(end, limitMs, signal);
  const isTooLate = endedBy === 'limit' && startedAt === undefined;
  // bwrap that is killed does not say how the program ended.
  const isUnknown = endedBy === 'itself' && own.signal === null;
  if (isTooLate || (isUnknown && sandbox !== undefined && !(await sandbox.hasRun))) {
    const message = "The job's sandbox could not be set up. The end of the log has the cause.";
    throw new AppError('refused', message);
  }
  return { ...end, endedBy, detail };
}

function secondsSince(time: number | undefined): number {
  return time === undefined ? 0 : (performance.now() - time) / 1000;
}

/** The service kills a program that this process has not ended in time. */
function killedBecause({ ranSeconds }: Exit, limitMs: number, { aborted }: AbortSignal): ProgramEnd['endedBy'] {
  if (aborted) return 'signal';
  return 1000 * ranSeconds >= limitMs ? 'limit' : 'itself';
}

/** The processes whose descendants are the job's: its first one, and those of its clients. */
function rootsOf(pid: number, tunnel: ProcessWatch['tunnel']): () => readonly number[] {
  return () => [pid, ...(tunnel?.open.processes ?? [])];
}

/** Which processes stop while the job is frozen: not those that confine it, and not what its clients use. */
function stoppableJob(pid: number, tunnel: ProcessWatch['tunnel'], sandbox: SandboxStart | undefined): StoppableJob {
  return {
    roots: rootsOf(pid, tunnel),
    // bwrap, and its process that is the first one inside.
    outer: sandbox === undefined ? 0 : 2,
    isServing: (id) =>
      tunnel !== undefined &&
      (sandbox === undefined
        ? tunnel.open.processes.includes(id)
        : readText(`/proc/${id}/cmdline`).split('\0').includes(tunnel.program)),
  };
}

/** Lets clients in beside a program that has just begun, within the same limits. */
function openTunnelOf(
  child: ChildProcess,
  { cwd: folder, env: variables, sandbox }: ProcessCall,
  { jobId, confinement, tunnel }: Pick<ProcessLimits, 'jobId' | 'confinement'> & { readonly tunnel: JobTunnel },
): AsyncDisposable {
  const setUp = { folder, variables };
  if (sandbox !== undefined) return tunnel.openInside(setUp, child);
  return tunnel.openBeside(setUp, {
    spawn: (file, args, options) => {
      const [program, ...rest] = restrained([file, ...args], jobId, confinement);
      return startRestrained(confinement, () => spawn(program, rest, { ...options, windowsHide: true }));
    },
    processes: () => markedProcesses(child.pid, jobProcessTag(jobId)),
  });
}

/** @param options.tunnel the program of the job's tunnel, if it has one. */
function spawnCall(
  { file, args, cwd, env, sandbox }: ProcessCall,
  {
    jobId,
    confinement,
    tunnel,
  }: Pick<ProcessLimits, 'jobId' | 'confinement'> & { readonly tunnel: string | undefined },
): ChildProcess {
  const options = { detached: process.platform !== 'win32', windowsHide: true };
  if (sandbox === undefined) {
    const [program, ...rest] = restrained([file, ...args], jobId, confinement);
    if (program !== file) assertRuns(file);
    return spawn(program, rest, { ...options, cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  }
  const [first, ...others] =
    tunnel === undefined ? [file, ...args] : withWaiter([file, ...args], { node: process.execPath, program: tunnel });
  const [program, ...rest] = restrained([sandbox.program, ...sandboxCommand(first, others)], jobId, confinement);
  return spawn(program, rest, {
    ...options,
    cwd: '/',
    // Used to find it if this process is killed before it knows the sandbox's first process.
    env: { ...NO_VARIABLES, [JOB_ID_VARIABLE]: jobId },
    stdio: ['ignore', 'pipe', 'pipe', ...SANDBOX_STDIO, ...(tunnel === undefined ? [] : ['pipe' as const])],
  });
}

/** Fails like `spawn`, because the program that lowers its priority would report the failure otherwise. */
function assertRuns(file: string): void {
  if (process.platform === 'linux') assertStarts(file, () => true);
  else accessSync(file, constants.X_OK);
}

/**
 * Waits for any number of milliseconds after a start in which the job is not frozen, or until that is too late.
 *
 * @throws the signal's reason on abort.
 */
async function untilLimit(
  limitMs: number,
  { started, freezer }: { readonly started: Promise<void>; readonly freezer: JobFreezer | undefined },
  signal: AbortSignal,
): Promise<'limit'> {
  const tooLate = sleep(SANDBOX_START_MS, true, { signal });
  if (await Promise.race([started.then(() => false), tooLate])) return 'limit';
  const deadline = performance.now() + limitMs;
  let leadMs = freezer?.leadMs(limitMs) ?? 0;
  for (;;) {
    await freezer?.untilThawed();
    const left = deadline + (freezer?.times.idleMs ?? 0) - performance.now();
    if (left <= 0) return 'limit';
    if (leadMs > 0 && left <= leadMs) {
      leadMs = 0;
      if ((await freezer?.waitAtLimit(left)) === true) return 'limit';
      continue;
    }
    await sleep(Math.min(left - leadMs, MAX_TIMER_MS), undefined, { signal });
  }
}

/** Records the start of the program just before it. */
async function begin(sandbox: SandboxStart, noteStart: (at: number, init: ProcessReference) => void): Promise<void> {
  const init = await sandbox.init;
  if (init === undefined) return; // bwrap failed, and its exit reports that
  noteStart(performance.now(), init);
  await sandbox.release();
}

interface Started {
  readonly jobId: string;
  readonly sandbox: SandboxStart | undefined;
  readonly cgroup: JobCgroup | undefined;
  readonly graceMs: number;
}

async function endAll(child: ChildProcess, { jobId, sandbox, cgroup, graceMs }: Started): Promise<void> {
  if (sandbox === undefined) {
    const tag = jobProcessTag(jobId);
    await endProcesses({ group: child.pid, mark: tag, lockLimit: newLockLimit(tag) }, graceMs);
  } else {
    const init = await Promise.race([sandbox.init, sleep(SANDBOX_REPORT_WAIT_MS, undefined, { ref: false })]);
    // The end of a sandbox's first process ends all others in it, so bwrap is stopped last.
    if (init !== undefined && graceMs > 0) await askToEnd(init, graceMs);
    // It may not have started the program yet, and would do so once this process has ended and its pipe is closed.
    if (init !== undefined) killProcess(init);
    child.kill('SIGKILL'); // does nothing if bwrap's process ID was reused
    // Hundreds of processes take a while to end, and the job ends after them.
    if (init !== undefined) await untilStopped(init, SANDBOX_END_MS);
  }
  if (cgroup !== undefined) await killCgroup(cgroup);
}

/** How the program inside a sandbox ended, according to bwrap's exit code. */
function insideOf(end: Exit): Exit {
  const number = (end.code ?? 0) - SIGNAL_BASE;
  const [signal] = Object.entries(system.signals).find(([, value]) => value === number) ?? [];
  return signal === undefined ? end : { ...end, code: null, signal };
}
