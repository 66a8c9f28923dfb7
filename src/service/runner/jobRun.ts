import { lutimesSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootIdentity, processIdentity, type ProcessReference, steadyMs } from '../../core/processes/processTree.ts';
import { controls } from '../cgroups/jobCgroup.ts';
import type { Confinement } from '../jobFiles/confinement.ts';
import type { JobContainer } from '../jobFiles/container.ts';
import { type JobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import type { JobVolume } from '../jobFiles/jobVolumes.ts';
import type { ExitMarker, StartedMarker } from '../jobFiles/markers.ts';
import type { RunnerSpec } from '../jobFiles/runnerSpec.ts';
import { visibleSearchPath, type PackagesMount, sandboxOptions, seesPath } from './sandbox.ts';
import type { JobPackages } from './environment/jobPackages.ts';
import type { OutputLog } from './output/outputLog.ts';
import { callInContainer } from './program/containerCall.ts';
import type { JobVariables } from './program/jobVariables.ts';
import { type ProcessCall, type ProgramEnd, runProcess } from './runProcess.ts';
import { assertStarts } from './program/programFile.ts';
import type { JobTunnel } from './tunnel/jobTunnel.ts';
import type { DebugFolder } from './debug/debugFolder.ts';
import type { JobFreezer } from './debug/jobFreezer.ts';

// A job whose runner is killed is charged until the last heartbeat, so at most this time is not charged.
const HEARTBEAT_MS = 5_000;
// Beside this program.
const TUNNEL_PROGRAM = join(import.meta.dirname, 'sandboxTunnel.mjs');

/** `removed`: the claim of the job is gone, which its service has removed, or the job itself. */
export type StopReason = 'cancelled' | 'stopped' | 'removed';
export type RunOutcome = Omit<ExitMarker, 'at'>;

/** A job that this process has claimed. */
export interface JobRun {
  readonly folder: JobFolder;
  readonly spec: RunnerSpec;
  readonly variables: JobVariables;
  /** Undefined if the job needs none, or has none yet. */
  readonly packages: JobPackages | undefined;
  readonly container: JobContainer | undefined;
  readonly volumes: readonly JobVolume[];
  readonly confinement: Confinement | undefined;
  readonly output: OutputLog;
  readonly tunnel: JobTunnel;
  /** The service's secret with this process, if it has one. */
  readonly seal: string | undefined;
  readonly signal: AbortSignal;
  /** What programs of the job have run so far, which is charged however the job ends. */
  readonly charged: { seconds: number };
}

interface ProgramStart {
  /** The path of its marker. */
  readonly marker: string;
  readonly onStart?: (pid: number) => void;
  /** Whether clients may connect while it runs. */
  readonly hasTunnel?: boolean;
  /** What freezes it where it fails, for debuggers. */
  readonly debugging?: Debugging | undefined;
}

/** What a job that can be debugged has. */
export interface Debugging {
  readonly folder: DebugFolder;
  readonly freezer: JobFreezer;
}

/** Runs a program of the job, and records its start and how long it ran. @throws as `runProcess`. */
export async function runConfined(
  call: ProcessCall,
  limitMs: number,
  run: JobRun,
  { marker, onStart, hasTunnel = false, debugging }: ProgramStart,
): Promise<ProgramEnd> {
  const { folder, spec, variables, packages, container, volumes, confinement, output, signal, charged } = run;
  const tunnel = hasTunnel && container === undefined ? run.tunnel : undefined;
  const { jobId, killGraceMs } = spec;
  const binds = volumes.map(({ folder: path, isWritable }) => ({ path, isWritable }));
  const usedSeconds = charged.seconds;
  const ended = new AbortController();
  let startedAt: number | undefined;
  try {
    const end = await runProcess(
      container !== undefined
        ? callInContainer(call, { container, folder, variables, packages, binds })
        : confinement === undefined
          ? call
          : confine(
              call,
              { folder, packages, tunnelProgram: tunnel && TUNNEL_PROGRAM, debugFolder: debugging?.folder },
              { ...confinement, volumes },
            ),
      { jobId, limitMs, killGraceMs, confinement, signal },
      {
        output,
        tunnel: tunnel && { open: tunnel, program: TUNNEL_PROGRAM },
        freezer: debugging?.freezer,
        onStart(pid, init) {
          startedAt = performance.now();
          writeMarker(marker, startedMarker(pid, init, { usedSeconds, deadline: steadyMs() + limitMs }));
          void beat(marker, ended.signal);
          onStart?.(pid);
        },
      },
    );
    charged.seconds += end.ranSeconds;
    return end;
  } catch (error) {
    if (startedAt !== undefined) charged.seconds += (performance.now() - startedAt) / 1000;
    throw error;
  } finally {
    ended.abort();
  }
}

function startedMarker(
  pid: number,
  init: ProcessReference | undefined,
  times: Pick<StartedMarker, 'usedSeconds' | 'deadline'>,
): StartedMarker {
  return { pid, identity: processIdentity(pid) ?? '', boot: bootIdentity(), at: Date.now(), init, ...times };
}

/** The folders in which the job finds the same interpreters as the service. */
export function searchPath({ folder, packages, confinement }: JobRun, path: string): string {
  const sandbox = confinement?.sandbox;
  return sandbox ? visibleSearchPath(sandbox, { ...folder, packages }, path) : path;
}

/** Whether a path is the same file for the job as for the service. */
export function isVisible({ folder, packages, confinement }: JobRun, path: string): boolean {
  const sandbox = confinement?.sandbox;
  return sandbox ? seesPath(sandbox, { ...folder, packages }, path) : true;
}

export function stopReason({ reason }: { readonly reason: unknown }): StopReason {
  return reason === 'stopped' || reason === 'removed' ? reason : 'cancelled';
}

export function stopped(signal: AbortSignal, ranSeconds: number): RunOutcome {
  return { outcome: stopReason(signal), code: null, signal: null, detail: null, ranSeconds };
}

export function notStarted(detail: string, ranSeconds: number): RunOutcome {
  return { outcome: 'not-started', code: null, signal: null, detail, ranSeconds };
}

/**
 * Makes a call run in the job's sandbox, if it has one. Checks that the program can be started, because otherwise bwrap would fail
 * instead of the program.
 *
 * Without a sandbox, only the programs that lower its priority and its limits run before the job's own, with the job's variables.
 *
 * @throws the system's error, like `spawn`, for a program that cannot be started.
 */
function confine(
  call: ProcessCall,
  {
    folder,
    packages,
    tunnelProgram,
    debugFolder,
  }: {
    readonly folder: JobFolder;
    readonly packages: PackagesMount | undefined;
    readonly tunnelProgram: string | undefined;
    readonly debugFolder: DebugFolder | undefined;
  },
  { sandbox, limits, cgroup, volumes }: Confinement & { readonly volumes: readonly JobVolume[] },
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
      options: sandboxOptions(sandbox, folders, {
        cwd: call.cwd,
        variables,
        volumes,
        cgroup,
        tunnelProgram,
        debugFolder,
      }),
      maxProcesses: controls(cgroup, 'pids') ? null : limits.maxProcesses,
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

/**
 * Sets the time of a file in the job's folder to now, repeatedly until the signal aborts: the runner's heartbeat, for a service that was
 * not running when the runner was killed. An isolated job cannot reach the file.
 */
async function beat(path: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(HEARTBEAT_MS, undefined, { signal, ref: false }).catch(() => {});
    try {
      // If a job replaced the file with a link, this sets the link's own time.
      lutimesSync(path, new Date(), new Date());
    } catch {
      // The folder was deleted, or is unreachable for a moment.
    }
  }
}
