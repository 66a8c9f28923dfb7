import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { AppError, assertNever, messageOf, systemCode } from '../../core/errors.ts';
import { readConfinement } from '../jobFiles/confinement.ts';
import { readContainer } from '../jobFiles/container.ts';
import { jobVariables, variablesOnMachine } from './program/jobVariables.ts';
import { isShellScript, type ProgramCall, programFor, programInContainer } from './program/interpreter.ts';
import { commandInContainer, programOfCommand, shownProgram } from './program/commandProgram.ts';
import { readProgramStart } from './program/programFile.ts';
import { volumeVariable } from '../../remote/protocol/volume.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { type JobVolume, placeInSandbox, readJobVolumes } from '../jobFiles/jobVolumes.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { OutputLog } from './output/outputLog.ts';
import { makeDebugFolder } from './debug/debugFolder.ts';
import { JobFreezer } from './debug/jobFreezer.ts';
import {
  type Debugging,
  isVisible,
  notStarted,
  type RunOutcome,
  type JobRun,
  runConfined,
  searchPath,
  stopReason,
} from './jobRun.ts';
import type { ProgramEnd } from './runProcess.ts';
import { setUp } from './setUp.ts';
import type { JobTunnel } from './tunnel/jobTunnel.ts';
import { sampleUsage } from './usage/sampleUsage.ts';

const NODE_DEBUGGER = join(import.meta.dirname, 'nodeDebugger.cjs');

/**
 * Prepares and runs a job that this process has claimed, and returns how it ended.
 *
 * @param options.secrets variables of the job.
 * @param signal its abort, with a `StopReason`, stops the job.
 */
export async function runJob(
  folder: JobFolder,
  {
    output,
    secrets,
    tunnel,
    seal,
  }: {
    readonly output: OutputLog;
    readonly secrets: SecretValues;
    readonly tunnel: JobTunnel;
    /** The service's secret with this process, if it has one. */
    readonly seal: string | undefined;
  },
  signal: AbortSignal,
): Promise<RunOutcome> {
  const charged = { seconds: 0 };
  let program: string | undefined;
  try {
    const spec = parseOwnJson<RunnerSpec>(readFileSync(folder.spec, 'utf8'));
    if (spec.runs === 'command') [program] = spec.command;
    const confinement = readConfinement(folder.confinement);
    const volumes = readJobVolumes(folder);
    const isSandboxed = confinement !== undefined && confinement.sandbox !== null;
    const variables = jobVariables(folder, spec, secrets, {
      ...pathsOf(volumes, isSandboxed),
      ...confinement?.gpus?.variables,
    });
    const container = readContainer(folder);
    const bare = {
      folder,
      spec,
      variables,
      packages: undefined,
      container,
      volumes,
      confinement,
      output,
      tunnel,
      seal,
      signal,
      charged,
    };
    const { ending, ranSeconds, run, cleanUp } = await setUp(bare, Object.keys(secrets));
    return ending ?? (await runProgram(run, ranSeconds).finally(cleanUp));
  } catch (error) {
    return notStarted(error instanceof AppError ? error.message : explain(error, program), charged.seconds);
  }
}

/** The variables with the paths of volumes, as the job sees them. */
function pathsOf(volumes: readonly JobVolume[], isSandboxed: boolean): Record<string, string> {
  const path = (volume: JobVolume): string => (isSandboxed ? placeInSandbox(volume) : volume.folder);
  return Object.fromEntries(volumes.map((volume) => [volumeVariable(volume.name), path(volume)]));
}

/** @param setUpSeconds how much of the job's time limit is used up. */
async function runProgram(run: JobRun, setUpSeconds: number): Promise<RunOutcome> {
  const { folder, spec, variables, packages, output, signal } = run;
  const env = variablesOnMachine(variables, packages);
  const program = findJobProgram(run, env['PATH'] ?? '');
  mkdirSync(join(folder.workspace, spec.artifacts), { recursive: true });
  const environment = { ...env, ...program.env };
  await using debugging = await openDebugging(run, environment);
  const call = { ...program, cwd: folder.workspace, env: { ...environment, ...debugging?.folder.variables } };
  const ended = new AbortController();
  let sampling: Promise<void> | undefined;
  const limitMs = 1000 * Math.max(0, spec.maxRuntimeSeconds - setUpSeconds);
  const end = await runConfined(call, limitMs, run, {
    marker: folder.started,
    hasTunnel: true,
    debugging,
    onStart(pid) {
      const roots = (): readonly number[] => [pid, ...run.tunnel.processes];
      sampling = sampleUsage(roots, run.confinement, (usage) => output.usage(usage), ended.signal);
    },
  }).finally(() => ended.abort());
  await sampling;
  const { code, signal: endSignal, detail, ranSeconds, frozenSeconds } = end;
  const outcome = outcomeOf(end, signal);
  return {
    outcome,
    code,
    signal: endSignal,
    detail,
    ranSeconds: setUpSeconds + ranSeconds,
    ...(debugging !== undefined && { frozenSeconds }),
  };
}

/** Undefined if the job does not wait for a debugger, or none could reach it. @throws the system's error. */
async function openDebugging(
  { folder, spec, confinement, container, output, seal }: JobRun,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<(Debugging & AsyncDisposable) | undefined> {
  const { jobId, debug } = spec;
  if (debug === undefined || container !== undefined) return undefined;
  const { workspace } = folder;
  const isSandboxed = (confinement?.sandbox ?? null) !== null;
  const shared = makeDebugFolder(jobId, { debug, workspace, isSandboxed, nodeProgram: NODE_DEBUGGER, variables });
  const freezer = await JobFreezer.open({
    folder: shared.path,
    workspace,
    holdMs: 1000 * debug.hold,
    isAtLimit: debug.limit === true,
    order: { path: folder.hold, secret: seal },
    report: (frame) => output.freeze(frame),
  });
  return {
    folder: shared,
    freezer,
    async [Symbol.asyncDispose]() {
      await freezer[Symbol.asyncDispose]();
      shared[Symbol.dispose]();
    },
  };
}

/** The program that runs the script or command of a job, and its arguments. */
function findJobProgram(run: JobRun, path: string): ProgramCall {
  const { folder, spec, packages, container, output } = run;
  const { workspace } = folder;
  const [first, ...args] = spec.command;
  const isVisibleToJob = (file: string): boolean => isVisible(run, file);
  const machine = { searchPath: searchPath(run, path), packages, isVisible: isVisibleToJob };
  if (spec.runs === 'command') {
    const command = { program: first, args, workspace };
    return container === undefined ? programOfCommand(command, machine) : commandInContainer(command, packages);
  }
  const start = readProgramStart(join(workspace, first), isVisibleToJob);
  const script = { path: first, args, start, workspace };
  const program = container === undefined ? programFor(script, machine) : programInContainer(script, packages);
  if (isShellScript(script) && /^[^\n]*\r\n/.test(start.toString('latin1')))
    output.note(`${first} has the line ends of Windows, which shells cannot read; save it with LF line ends`);
  return program;
}

function outcomeOf({ endedBy }: ProgramEnd, signal: AbortSignal): RunOutcome['outcome'] {
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

/** @param program that of a command; undefined for a script. */
function explain(error: unknown, program: string | undefined): string {
  const code = systemCode(error);
  const [what, remedy] =
    program === undefined
      ? ['The script', 'then submit again.']
      : [shownProgram(program), 'or name the program that runs it, such as bash.'];
  if (code === 'EACCES') return `${what} is not executable. Make it executable (chmod +x), ${remedy}`;
  if (code === 'ENOEXEC') {
    const reason = `${what} cannot be started, because its first line does not name an interpreter (#!).`;
    return program === undefined ? reason : `${reason} Add that line, ${remedy}`;
  }
  if (code === 'ENOENT')
    return `${what}, or the interpreter that its first line names, does not exist on the machine that runs jobs.`;
  return `${what} could not be started: ${messageOf(error)}`;
}
