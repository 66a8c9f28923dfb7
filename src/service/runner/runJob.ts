import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { AppError, assertNever, messageOf, systemCode } from '../../core/errors.ts';
import { bootIdentity, processIdentity, type ProcessReference } from '../../core/processes/processTree.ts';
import { confine } from './confine.ts';
import { beat } from './heartbeat.ts';
import { type Confinement, readConfinement } from '../jobFiles/confinement.ts';
import { type JobContainer, readContainer } from '../jobFiles/container.ts';
import { callInContainer, imageFetch } from './program/containerCall.ts';
import { environmentOf, type JobEnvironment } from './program/environment.ts';
import { findPython, programFor, programInContainer } from './program/interpreter.ts';
import { type JobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import type { ExitMarker, StartedMarker } from '../jobFiles/markers.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { OutputLog } from './outputLog.ts';
import { type ProcessCall, type ProcessEnd, runProcess } from './runProcess.ts';
import { sampleUsage } from './usage/sampleUsage.ts';
import { visibleSearchPath } from '../sandbox/sandbox.ts';
import { buildSteps, environmentPython, needsPython, type Step, STEP_LIMIT_MS } from './program/virtualEnvironment.ts';

export type StopReason = 'cancelled' | 'stopped';
type Outcome = Omit<ExitMarker, 'at'>;

interface Run {
  readonly folder: JobFolder;
  readonly spec: RunnerSpec;
  readonly environment: JobEnvironment;
  readonly container: JobContainer | undefined;
  readonly confinement: Confinement | undefined;
  readonly output: OutputLog;
  readonly signal: AbortSignal;
}

/**
 * Prepares and runs a job that this process has claimed, and returns how it ended.
 *
 * @param options.secrets variables of the job.
 * @param signal its abort, with a `StopReason`, stops the job.
 */
export async function runJob(
  folder: JobFolder,
  { output, secrets }: { readonly output: OutputLog; readonly secrets: SecretValues },
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const spec = parseOwnJson<RunnerSpec>(readFileSync(folder.spec, 'utf8'));
    const confinement = readConfinement(folder.confinement);
    const environment = environmentOf(folder, spec, secrets);
    const run = { folder, spec, environment, container: readContainer(folder), confinement, output, signal };
    const { ending, ranSeconds } = await setUp(run);
    return ending ?? (await runScript(run, ranSeconds));
  } catch (error) {
    return notStarted(error instanceof AppError ? error.message : explain(error), 0);
  }
}

/** The outcome of the setup: the job's ending if it failed, and the seconds that it took. */
interface SetUp {
  readonly ending?: Outcome;
  readonly ranSeconds: number;
}

/**
 * Fetches the image of the job's container, and builds its virtual environment, if it has them. Building a package runs a program that
 * the account chose, so this counts as running the job: within its time limit, and charged.
 */
async function setUp(run: Run): Promise<SetUp> {
  const { folder, spec, environment, output, signal } = run;
  let ranSeconds = 0;
  if (signal.aborted) return { ending: stopped(signal, ranSeconds), ranSeconds };
  for (const { step, isInside } of stepsOf(run)) {
    output.note(`${step.file} ${step.args.join(' ')}`);
    const leftMs = 1000 * (spec.maxRuntimeSeconds - ranSeconds);
    const env = isInside ? environment.all : environment.inherited;
    const call = { ...step, cwd: folder.workspace, env };
    const runStep = isInside ? run : { ...run, container: undefined };
    const end = await runConfined(call, Math.min(STEP_LIMIT_MS, leftMs), runStep);
    ranSeconds += end.ranSeconds;
    const ending = endingOfStep(end, step, { ranSeconds, isOverTime: leftMs <= STEP_LIMIT_MS }, run);
    if (ending !== undefined) return { ending, ranSeconds };
  }
  return { ranSeconds };
}

/** The steps of the setup in order, and whether each runs where the script will. */
function* stepsOf(run: Run): Generator<{ readonly step: Step; readonly isInside: boolean }> {
  const { folder, spec, container } = run;
  const step = container && imageFetch(container, folder, process.env['PATH'] ?? '');
  if (step !== undefined) yield { step, isInside: false };
  if (spec.venv === null || !needsPython(spec.venv)) return;
  const { python } = spec.venv;
  const path = searchPath(run, process.env['PATH'] ?? '');
  const creator = container === undefined ? findPython(python, path) : (python ?? 'python3');
  for (const one of buildSteps(folder, spec.venv, creator)) yield { step: one, isInside: true };
}

/** How a job ends with a step of its setup; undefined if it continues. */
function endingOfStep(
  { endedBy, code, detail }: ProcessEnd,
  { doing, failure, isFree = false }: Pick<Step, 'doing' | 'failure' | 'isFree'>,
  { ranSeconds, isOverTime }: { readonly ranSeconds: number; readonly isOverTime: boolean },
  { output, signal }: Run,
): Outcome | undefined {
  if (endedBy === 'signal') return stopped(signal, ranSeconds);
  if (endedBy === 'limit' && isOverTime) {
    output.note(`the time limit was reached while ${doing}, which counts; increase it`);
    return { outcome: 'timed_out', code: null, signal: null, detail: null, ranSeconds };
  }
  if (code === 0 && endedBy === 'itself') return undefined;
  const sentence = endedBy === 'limit' ? `It took longer than 30 minutes until ${doing}.` : (detail ?? failure);
  return notStarted(sentence, isFree ? 0 : ranSeconds);
}

/** @param setUpSeconds how much of the job's time limit is used up. */
async function runScript(run: Run, setUpSeconds: number): Promise<Outcome> {
  const { folder, spec, environment, container, output, signal } = run;
  const { all: env, hasVirtualEnvironment } = environment;
  const [script, ...args] = spec.command;
  const python = hasVirtualEnvironment ? environmentPython(folder) : undefined;
  const program =
    container === undefined
      ? programFor(script, args, folder.workspace, searchPath(run, env['PATH'] ?? ''))
      : programInContainer(script, args, folder.workspace, python);
  mkdirSync(join(folder.workspace, spec.artifacts), { recursive: true });
  const call = { ...program, cwd: folder.workspace, env: { ...env, ...program.env } };
  const ended = new AbortController();
  let sampling: Promise<void> | undefined;
  const limitMs = 1000 * Math.max(0, spec.maxRuntimeSeconds - setUpSeconds);
  const end = await runConfined(call, limitMs, run, (pid, init) => {
    writeMarker(folder.started, startedMarker(pid, init));
    void beat(folder.started, ended.signal);
    sampling = sampleUsage(pid, (usage) => output.usage(usage), ended.signal);
  }).finally(() => ended.abort());
  await sampling;
  const { code, signal: endSignal, detail, ranSeconds } = end;
  const outcome = outcomeOf(end, signal);
  return { outcome, code, signal: endSignal, detail, ranSeconds: setUpSeconds + ranSeconds };
}

function startedMarker(pid: number, init: ProcessReference | undefined): StartedMarker {
  return { pid, identity: processIdentity(pid) ?? '', boot: bootIdentity(), at: Date.now(), init };
}

function runConfined(
  call: ProcessCall,
  limitMs: number,
  { folder, spec, environment, container, confinement, output, signal }: Run,
  onStart?: (pid: number, init: ProcessReference | undefined) => void,
): Promise<ProcessEnd> {
  const { jobId, killGraceMs } = spec;
  return runProcess(
    container !== undefined
      ? callInContainer(call, { container, folder, environment, binds: [] })
      : confinement === undefined
        ? call
        : confine(call, folder, confinement),
    { jobId, limitMs, killGraceMs, resources: confinement?.limits, signal },
    { output, ...(onStart !== undefined && { onStart }) },
  );
}

/** The folders in which the job finds the same interpreters as the service. */
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
      return stopReason(signal);
    case 'itself':
      return 'exited';
    default:
      return assertNever(endedBy);
  }
}

function stopReason({ reason }: AbortSignal): StopReason {
  return reason === 'stopped' ? 'stopped' : 'cancelled';
}

function stopped(signal: AbortSignal, ranSeconds: number): Outcome {
  return { outcome: stopReason(signal), code: null, signal: null, detail: null, ranSeconds };
}

function notStarted(detail: string, ranSeconds: number): Outcome {
  return { outcome: 'not-started', code: null, signal: null, detail, ranSeconds };
}

function explain(error: unknown): string {
  const code = systemCode(error);
  if (code === 'EACCES') return 'The script is not executable. Make it executable (chmod +x), then submit again.';
  if (code === 'ENOEXEC')
    return 'The script cannot be started, because its first line does not name an interpreter (#!).';
  if (code === 'ENOENT')
    return 'The script, or the interpreter that its first line names, does not exist on the machine that runs jobs.';
  return `The script could not be started: ${messageOf(error)}`;
}
