import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessReference } from '../../core/processes/processTree.ts';
import type { Confinement } from '../jobFiles/confinement.ts';
import type { JobContainer } from '../jobFiles/container.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { JobVolume } from '../jobFiles/volumes.ts';
import type { ExitMarker } from '../jobFiles/markers.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import { visibleSearchPath, type PackagesMount, sandboxOptions, seesPath } from '../sandbox/sandbox.ts';
import type { JobPackages } from './environment/jobPackages.ts';
import type { OutputLog } from './output/outputLog.ts';
import { callInContainer } from './program/containerCall.ts';
import type { JobVariables } from './program/jobVariables.ts';
import { type ProcessCall, type ProcessEnd, runProcess } from './runProcess.ts';
import { assertStarts } from './program/programFile.ts';

export type StopReason = 'cancelled' | 'stopped';
export type Outcome = Omit<ExitMarker, 'at'>;

/** A job that this process has claimed. */
export interface Run {
  readonly folder: JobFolder;
  readonly spec: RunnerSpec;
  readonly variables: JobVariables;
  /** Undefined if the job needs none, or has none yet. */
  readonly packages: JobPackages | undefined;
  readonly container: JobContainer | undefined;
  readonly volumes: readonly JobVolume[];
  readonly confinement: Confinement | undefined;
  readonly output: OutputLog;
  readonly signal: AbortSignal;
}

/** Runs a program of the job. */
export function runConfined(
  call: ProcessCall,
  limitMs: number,
  { folder, spec, variables, packages, container, volumes, confinement, output, signal }: Run,
  onStart?: (pid: number, init: ProcessReference | undefined) => void,
): Promise<ProcessEnd> {
  const { jobId, killGraceMs } = spec;
  const binds = volumes.map(({ folder: path, isWritable }) => ({ path, isWritable }));
  return runProcess(
    container !== undefined
      ? callInContainer(call, { container, folder, variables, packages, binds })
      : confinement === undefined
        ? call
        : confine(call, { folder, packages }, { ...confinement, volumes }),
    { jobId, limitMs, killGraceMs, resources: confinement?.limits, signal },
    { output, ...(onStart !== undefined && { onStart }) },
  );
}

/** The folders in which the job finds the same interpreters as the service. */
export function searchPath({ folder, packages, confinement }: Run, path: string): string {
  const sandbox = confinement?.sandbox;
  return sandbox ? visibleSearchPath(sandbox, { ...folder, packages }, path) : path;
}

export function stopReason({ reason }: AbortSignal): StopReason {
  return reason === 'stopped' ? 'stopped' : 'cancelled';
}

export function stopped(signal: AbortSignal, ranSeconds: number): Outcome {
  return { outcome: stopReason(signal), code: null, signal: null, detail: null, ranSeconds };
}

export function notStarted(detail: string, ranSeconds: number): Outcome {
  return { outcome: 'not-started', code: null, signal: null, detail, ranSeconds };
}

/**
 * Makes a call run in the job's sandbox, if it has one. Checks that the program can be started, because otherwise bwrap would fail
 * instead of the program.
 *
 * Without a sandbox, no other program runs between the runner and the job's program, so the job's variables reach only the latter.
 *
 * @throws the system's error, like `spawn`, for a program that cannot be started.
 */
function confine(
  call: ProcessCall,
  { folder, packages }: { readonly folder: JobFolder; readonly packages: PackagesMount | undefined },
  { sandbox, limits, volumes }: Confinement & { readonly volumes: readonly JobVolume[] },
): ProcessCall {
  if (sandbox === null) return call;
  const folders = { ...folder, packages, home: freshFolder(folder.home), temporary: freshFolder(folder.temporary) };
  assertStarts(call.file, (path) => seesPath(sandbox, folders, path));
  // The sandbox has its own /tmp, wherever the service's is.
  const { TMPDIR: _1, TMP: _2, TEMP: _3, ...variables } = call.env;
  return {
    ...call,
    sandbox: {
      program: sandbox.program,
      options: sandboxOptions(sandbox, folders, { cwd: call.cwd, variables, volumes }),
      maxProcesses: limits.maxProcesses,
    },
  };
}

/**
 * An empty folder inside a folder that the job never sees. Each program of a job gets its own, because bwrap mounts inside it and
 * follows links on the way, which an earlier program of the job could have left.
 */
function freshFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const fresh = join(path, String(readdirSync(path).length + 1));
  mkdirSync(fresh, { mode: 0o700 });
  return fresh;
}
