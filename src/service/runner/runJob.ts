import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { AppError, assertNever, messageOf, systemCode } from '../../core/errors.ts';
import { readConfinement } from '../jobFiles/confinement.ts';
import { readContainer } from '../jobFiles/container.ts';
import { jobVariables, variablesOnMachine } from './program/jobVariables.ts';
import { isShellScript, programFor, programInContainer } from './program/interpreter.ts';
import { readProgramStart } from './program/programFile.ts';
import { volumeVariable } from '../../remote/protocol/volume.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { type JobVolume, placeInSandbox, readJobVolumes } from '../jobFiles/jobVolumes.ts';
import type { SecretValues } from '../jobFiles/runnerInput.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { OutputLog } from './output/outputLog.ts';
import { isVisible, notStarted, type RunOutcome, type JobRun, runConfined, searchPath, stopReason } from './jobRun.ts';
import type { ProgramEnd } from './runProcess.ts';
import { setUp } from './setUp.ts';
import { sampleUsage } from './usage/sampleUsage.ts';

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
): Promise<RunOutcome> {
  const charged = { seconds: 0 };
  try {
    const spec = parseOwnJson<RunnerSpec>(readFileSync(folder.spec, 'utf8'));
    const confinement = readConfinement(folder.confinement);
    const volumes = readJobVolumes(folder);
    const isSandboxed = confinement !== undefined && confinement.sandbox !== null;
    const variables = jobVariables(folder, spec, secrets, pathsOf(volumes, isSandboxed));
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
      signal,
      charged,
    };
    const { ending, ranSeconds, run, cleanUp } = await setUp(bare, Object.keys(secrets));
    return ending ?? (await runScript(run, ranSeconds).finally(cleanUp));
  } catch (error) {
    return notStarted(error instanceof AppError ? error.message : explain(error), charged.seconds);
  }
}

/** The variables with the paths of volumes, as the job sees them. */
function pathsOf(volumes: readonly JobVolume[], isSandboxed: boolean): Record<string, string> {
  const path = (volume: JobVolume): string => (isSandboxed ? placeInSandbox(volume) : volume.folder);
  return Object.fromEntries(volumes.map((volume) => [volumeVariable(volume.name), path(volume)]));
}

/** @param setUpSeconds how much of the job's time limit is used up. */
async function runScript(run: JobRun, setUpSeconds: number): Promise<RunOutcome> {
  const { folder, spec, variables, packages, container, output, signal } = run;
  const env = variablesOnMachine(variables, packages);
  const [path, ...args] = spec.command;
  const isVisibleToJob = (file: string): boolean => isVisible(run, file);
  const start = readProgramStart(join(folder.workspace, path), isVisibleToJob);
  const script = { path, args, start, workspace: folder.workspace };
  const machine = { searchPath: searchPath(run, env['PATH'] ?? ''), packages, isVisible: isVisibleToJob };
  const program = container === undefined ? programFor(script, machine) : programInContainer(script, packages);
  if (isShellScript(script) && /^[^\n]*\r\n/.test(start.toString('latin1')))
    output.note(`${path} has the line ends of Windows, which shells cannot read; save it with LF line ends`);
  mkdirSync(join(folder.workspace, spec.artifacts), { recursive: true });
  const call = { ...program, cwd: folder.workspace, env: { ...env, ...program.env } };
  const ended = new AbortController();
  let sampling: Promise<void> | undefined;
  const limitMs = 1000 * Math.max(0, spec.maxRuntimeSeconds - setUpSeconds);
  const end = await runConfined(call, limitMs, run, {
    marker: folder.started,
    onStart(pid) {
      sampling = sampleUsage(pid, run.confinement?.cgroup ?? null, (usage) => output.usage(usage), ended.signal);
    },
  }).finally(() => ended.abort());
  await sampling;
  const { code, signal: endSignal, detail, ranSeconds } = end;
  const outcome = outcomeOf(end, signal);
  return { outcome, code, signal: endSignal, detail, ranSeconds: setUpSeconds + ranSeconds };
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

function explain(error: unknown): string {
  const code = systemCode(error);
  if (code === 'EACCES') return 'The script is not executable. Make it executable (chmod +x), then submit again.';
  if (code === 'ENOEXEC')
    return 'The script cannot be started, because its first line does not name an interpreter (#!).';
  if (code === 'ENOENT')
    return 'The script, or the interpreter that its first line names, does not exist on the machine that runs jobs.';
  return `The script could not be started: ${messageOf(error)}`;
}
