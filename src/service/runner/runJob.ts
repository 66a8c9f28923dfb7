import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { programFor } from './interpreter.ts';
import { type ExitMarker, type JobFolder, type RunnerSpec, writeMarker } from './jobFolder.ts';
import type { OutputLog } from './outputLog.ts';
import { JOB_ID_VARIABLE } from './jobMark.ts';
import { type ProcessEnd, runProcess } from './runProcess.ts';
import { activation, buildSteps, needsPython, STEP_LIMIT_MS } from './virtualEnvironment.ts';

export type StopReason = 'cancelled' | 'stopped';
type Outcome = Omit<ExitMarker, 'at'>;

/**
 * Prepares and runs a job that this process has claimed, and tells how it ended.
 *
 * @param signal its abort, with a `StopReason`, ends the job.
 */
export async function runJob(folder: JobFolder, output: OutputLog, signal: AbortSignal): Promise<Outcome> {
  try {
    const spec = JSON.parse(readFileSync(folder.spec, 'utf8')) as RunnerSpec;
    const env = environmentOf(folder, spec);
    return (await setUp(folder, spec, env, output, signal)) ?? (await runScript(folder, spec, env, output, signal));
  } catch (error) {
    return notStarted(error instanceof AppError ? error.message : explain(error));
  }
}

function environmentOf(folder: JobFolder, { jobId, artifacts, venv }: RunnerSpec): Record<string, string> {
  const { ELECTRON_RUN_AS_NODE: _own, ...inherited } = process.env as Record<string, string>;
  return {
    ...inherited,
    ...(venv !== null && needsPython(venv) ? activation(folder, inherited['PATH'] ?? '') : {}),
    PYTHONUNBUFFERED: '1',
    // Compiled files beside the sources would come home as results.
    PYTHONDONTWRITEBYTECODE: '1',
    ...venv?.env,
    [JOB_ID_VARIABLE]: jobId,
    FARWHARF_ARTIFACTS: join(folder.workspace, artifacts),
    // For start scripts of flows: this machine may have no other Node.
    FARWHARF_NODE: process.execPath,
  };
}

async function setUp(
  folder: JobFolder,
  { jobId, venv, killGraceMs }: RunnerSpec,
  env: Readonly<Record<string, string>>,
  output: OutputLog,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  if (signal.aborted) return stopped(signal);
  if (venv === null || !needsPython(venv)) return undefined;
  for (const step of buildSteps(folder, venv, process.env['PATH'] ?? '')) {
    output.note(`${step.file} ${step.args.join(' ')}`);
    const limits = { jobId, limitMs: STEP_LIMIT_MS, killGraceMs, signal };
    const end = await runProcess({ ...step, cwd: folder.workspace, env }, limits, { output });
    if (end.endedBy === 'signal') return stopped(signal);
    if (end.endedBy === 'limit') return notStarted('Setting up the virtual environment took longer than 30 minutes.');
    if (end.code !== 0) return notStarted(step.failure);
  }
  return undefined;
}

async function runScript(
  folder: JobFolder,
  { jobId, command, artifacts, maxRuntimeSeconds, killGraceMs }: RunnerSpec,
  env: Readonly<Record<string, string>>,
  output: OutputLog,
  signal: AbortSignal,
): Promise<Outcome> {
  const [script, ...args] = command;
  const program = programFor(script, args, folder.workspace, env['PATH'] ?? '');
  mkdirSync(join(folder.workspace, artifacts), { recursive: true });
  const end = await runProcess(
    { ...program, cwd: folder.workspace, env: { ...env, ...program.env } },
    { jobId, limitMs: maxRuntimeSeconds * 1000, killGraceMs, signal },
    { output, onStart: (pid) => writeMarker(folder.started, { pid, at: Date.now() }) },
  );
  const { code, signal: endSignal, ranSeconds } = end;
  return { outcome: outcomeOf(end, signal), code, signal: endSignal, detail: null, ranSeconds };
}

function outcomeOf({ endedBy }: ProcessEnd, signal: AbortSignal): Outcome['outcome'] {
  if (endedBy === 'limit') return 'timed_out';
  return endedBy === 'signal' ? (signal.reason as StopReason) : 'exited';
}

function stopped(signal: AbortSignal): Outcome {
  return { outcome: signal.reason as StopReason, code: null, signal: null, detail: null, ranSeconds: 0 };
}

function notStarted(detail: string): Outcome {
  return { outcome: 'not-started', code: null, signal: null, detail, ranSeconds: 0 };
}

function explain(error: unknown): string {
  const code = systemCode(error);
  if (code === 'EACCES') return 'The script is not executable. Give it the permission (chmod +x), then submit again.';
  if (code === 'ENOEXEC')
    return 'The script has no first line that names its interpreter (#!), so it cannot be started.';
  if (code === 'ENOENT')
    return 'The script, or the interpreter that its first line names, is not on the machine that runs jobs.';
  return `The script could not be started: ${messageOf(error)}`;
}
