import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OutputLog } from './outputLog.ts';
import { endProcesses } from '../../core/processTree.ts';
import { jobMark } from './jobMark.ts';

// A process that left the group can hold the pipes open for as long as it likes; what it prints later is not waited for.
const PIPE_WAIT_MS = 1_000;

export interface ProcessCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ProcessLimits {
  readonly jobId: string;
  readonly limitMs: number;
  readonly killGraceMs: number;
  /** Its abort ends the process. */
  readonly signal: AbortSignal;
}

export interface ProcessEnd {
  readonly endedBy: 'itself' | 'limit' | 'signal';
  readonly code: number | null;
  readonly signal: string | null;
  readonly ranSeconds: number;
}

/**
 * Runs a program in a process group of its own, with its output in the log, until it and all its children have ended.
 *
 * @throws the system error when it cannot be started.
 */
export async function runProcess(
  { file, args, cwd, env }: ProcessCall,
  { jobId, limitMs, killGraceMs, signal }: ProcessLimits,
  { output, onStart }: { output: OutputLog; onStart?: (pid: number) => void },
): Promise<ProcessEnd> {
  const child = spawn(file, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const startedAt = performance.now();
  child.stdout.on('data', (bytes: Buffer) => output.append('stdout', bytes));
  child.stderr.on('data', (bytes: Buffer) => output.append('stderr', bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Omit<ProcessEnd, 'endedBy'>>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, exitSignal) =>
      resolve({ code, signal: exitSignal, ranSeconds: (performance.now() - startedAt) / 1000 }),
    );
  });
  if (child.pid !== undefined) onStart?.(child.pid);

  const settled = new AbortController();
  const endedBy = await Promise.race([
    exited.then(() => 'itself' as const),
    sleep(limitMs, 'limit' as const, { signal: settled.signal }),
    abortOf(signal),
  ]).finally(() => settled.abort());
  await endProcesses({ group: child.pid, mark: jobMark(jobId) }, killGraceMs);
  const end = await exited;
  await Promise.race([closed, sleep(PIPE_WAIT_MS, undefined, { ref: false })]);
  child.stdout.destroy();
  child.stderr.destroy();
  return { ...end, endedBy };
}

function abortOf(signal: AbortSignal): Promise<'signal'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('signal');
    else signal.addEventListener('abort', () => resolve('signal'), { once: true });
  });
}
