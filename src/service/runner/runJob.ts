import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, assertNever, messageOf, systemCode } from '../../core/errors.ts';
import { bootIdentity, processIdentity, type ProcessReference } from '../../core/processTree.ts';
import { confine } from './confine.ts';
import { beat } from './heartbeat.ts';
import { type Confinement, readConfinement } from './confinement.ts';
import { programFor } from './interpreter.ts';
import { type ExitMarker, type JobFolder, type RunnerSpec, type StartedMarker, writeMarker } from './jobFolder.ts';
import type { OutputLog } from './outputLog.ts';
import { JOB_ID_VARIABLE } from './jobMark.ts';
import { type ProcessCall, type ProcessEnd, runProcess } from './runProcess.ts';
import { visibleSearchPath } from './sandbox.ts';
import { activation, buildSteps, needsPython, STEP_LIMIT_MS } from './virtualEnvironment.ts';

export type StopReason = 'cancelled' | 'stopped';
type Outcome = Omit<ExitMarker, 'at'>;

interface Run {
  readonly folder: JobFolder;
  readonly spec: RunnerSpec;
  readonly env: Readonly<Record<string, string>>;
  readonly confinement: Confinement | undefined;
  readonly output: OutputLog;
  readonly signal: AbortSignal;
}

/**
 * Prepares and runs a job that this process has claimed, and tells how it ended.
 *
 * @param signal its abort, with a `StopReason`, ends the job.
 */
export async function runJob(folder: JobFolder, output: OutputLog, signal: AbortSignal): Promise<Outcome> {
  try {
    const spec = JSON.parse(readFileSync(folder.spec, 'utf8')) as RunnerSpec;
    const confinement = readConfinement(folder.confinement);
    const run = { folder, spec, env: environmentOf(folder, spec), confinement, output, signal };
    return (await setUp(run)) ?? (await runScript(run));
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

async function setUp(run: Run): Promise<Outcome | undefined> {
  const { folder, spec, output, signal } = run;
  if (signal.aborted) return stopped(signal);
  if (spec.venv === null || !needsPython(spec.venv)) return undefined;
  for (const step of buildSteps(folder, spec.venv, searchPath(run, process.env['PATH'] ?? ''))) {
    output.note(`${step.file} ${step.args.join(' ')}`);
    const end = await runConfined({ ...step, cwd: folder.workspace, env: run.env }, STEP_LIMIT_MS, run);
    if (end.endedBy === 'signal') return stopped(signal);
    if (end.endedBy === 'limit') return notStarted('Setting up the virtual environment took longer than 30 minutes.');
    if (end.code !== 0) return notStarted(end.detail ?? step.failure);
  }
  return undefined;
}

async function runScript(run: Run): Promise<Outcome> {
  const { folder, spec, env, signal } = run;
  const [script, ...args] = spec.command;
  const program = programFor(script, args, folder.workspace, searchPath(run, env['PATH'] ?? ''));
  mkdirSync(join(folder.workspace, spec.artifacts), { recursive: true });
  const call = { ...program, cwd: folder.workspace, env: { ...env, ...program.env } };
  const ended = new AbortController();
  const end = await runConfined(call, spec.maxRuntimeSeconds * 1000, run, (pid, init) => {
    writeMarker(folder.started, startedMarker(pid, init));
    void beat(folder.started, ended.signal);
  }).finally(() => ended.abort());
  const { code, signal: endSignal, detail, ranSeconds } = end;
  return { outcome: outcomeOf(end, signal), code, signal: endSignal, detail, ranSeconds };
}

function startedMarker(pid: number, init: ProcessReference | undefined): StartedMarker {
  return { pid, identity: processIdentity(pid) ?? '', boot: bootIdentity(), at: Date.now(), init };
}

function runConfined(
  call: ProcessCall,
  limitMs: number,
  { folder, spec, confinement, output, signal }: Run,
  onStart?: (pid: number, init: ProcessReference | undefined) => void,
): Promise<ProcessEnd> {
  const { jobId, killGraceMs } = spec;
  return runProcess(
    confinement === undefined ? call : confine(call, folder, confinement),
    { jobId, limitMs, killGraceMs, resources: confinement?.limits, signal },
    { output, ...(onStart !== undefined && { onStart }) },
  );
}

/** Where interpreters are looked for: only where the job finds them too. */
function searchPath({ folder, confinement }: Run, path: string): string {
  const sandbox = confinement?.sandbox;
  return sandbox ? visibleSearchPath(sandbox, folder, path) : path;
}

function outcomeOf({ endedBy }: ProcessEnd, signal: AbortSignal): Outcome['outcome'] {
  switch (endedBy) {
    case 'limit':
      return 'timed_out';
    case 'resources':
      return 'over_limit';
    case 'signal':
      return signal.reason as StopReason;
    case 'itself':
      return 'exited';
    default:
      return assertNever(endedBy);
  }
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
