import type { ProcessReference } from '../../core/processes/processTree.ts';
import type { Confinement } from '../jobFiles/confinement.ts';
import type { JobContainer } from '../jobFiles/container.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { JobVolume } from '../jobFiles/volumes.ts';
import type { ExitMarker } from '../jobFiles/markers.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import { visibleSearchPath } from '../sandbox/sandbox.ts';
import { confine } from './confine.ts';
import type { JobPackages } from './environment/jobPackages.ts';
import type { OutputLog } from './output/outputLog.ts';
import { callInContainer } from './program/containerCall.ts';
import type { JobVariables } from './program/jobVariables.ts';
import { type ProcessCall, type ProcessEnd, runProcess } from './runProcess.ts';

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
