import { availableParallelism } from 'node:os';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { bootIdentity, endProcesses, processIdentity } from '../../core/processTree.ts';
import { CpuShares } from './cpuShares.ts';
import type { Executor, RunnableJob } from '../executor.ts';
import type { Isolation } from './isolation.ts';
import { readJobText } from '../jobs/jobFileReading.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { readClaim, readStarted } from '../jobs/markers.ts';
import type { ProcessSettings } from './processConfig.ts';
import { allowedEnvironment } from '../runner/childEnvironment.ts';
import { type Confinement, readConfinement } from '../runner/confinement.ts';
import { type JobFolder, type StartedMarker, writeMarker } from '../runner/jobFolder.ts';
import { jobMark } from '../runner/jobMark.ts';

const CLAIM_POLL_MS = 10;
const MAX_WORDS = 500;
// Part of util-linux, which has it in this place on every distribution.
const TASKSET = '/usr/bin/taskset';

export interface ProcessExecutorOptions {
  /** Path of the built `jobRunner.mjs`, or of its source. */
  readonly runner: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  readonly settings: ProcessSettings;
  readonly isolation: Isolation;
  readonly machineClasses: MachineClasses;
}

/**
 * Runs jobs as processes of this machine and this user, within the limits of their machine class. Without isolation it is no
 * sandbox: a job can do what the user can do.
 */
export function createProcessExecutor(options: ProcessExecutorOptions): Executor {
  const { runner, killGraceMs, settings } = options;
  const cpus = new CpuShares();
  return {
    capacity: settings.max_jobs ?? availableParallelism(),
    isLocal: true,

    async launch(job, folder, signal) {
      if (existsSync(folder.claim)) return;
      const confinement = confinementOf(job, options, cpus);
      writeMarker(folder.confinement, confinement);
      const log = openSync(folder.runnerLog, 'a', 0o600);
      const electron = process.env['ELECTRON_RUN_AS_NODE'];
      const [file, ...args] = onCores(confinement.cpus, [process.execPath, runner, folder.path]);
      const child = spawn(file, args, {
        cwd: folder.path,
        detached: true,
        windowsHide: true,
        stdio: ['ignore', 'ignore', log],
        env: {
          ...allowedEnvironment(process.env),
          ...(electron === undefined ? {} : { ELECTRON_RUN_AS_NODE: electron }),
        },
      });
      closeSync(log);
      let ended: { cause: unknown } | undefined;
      child.once('error', (error) => (ended = { cause: error }));
      child.once('exit', (code) => (ended ??= { cause: code }));
      child.unref();
      while (!existsSync(folder.claim)) {
        if (ended !== undefined) throw await launchError(folder, ended.cause);
        await sleep(CLAIM_POLL_MS, undefined, { signal });
      }
    },

    async status(jobId, folder) {
      const claim = await readClaim(folder.claim);
      const isRunning = claim !== undefined && processIdentity(claim.pid) === claim.identity;
      if (isRunning) adoptCores(jobId, folder, cpus);
      else cpus.release(jobId);
      return { state: isRunning ? 'running' : 'gone' };
    },

    // The runner sees within a moment that its folder asks for the end.
    cancel: () => Promise.resolve(),

    async cleanUp(jobId, folder) {
      const started = await readStarted(folder.started).catch(() => undefined);
      await endProcesses({ group: started && groupOf(started), mark: jobMark(jobId) }, killGraceMs);
    },

    forget: (jobId) => cpus.release(jobId),

    stop: () => Promise.resolve(),
  };
}

/** The process group of a script, which may have ended before the others in it; undefined when its number is another's now. */
function groupOf({ pid, identity, boot }: StartedMarker): number | undefined {
  if (boot !== bootIdentity()) return undefined;
  const now = processIdentity(pid);
  return now === undefined || now === identity ? pid : undefined;
}

function confinementOf(
  { id, machineClass }: RunnableJob,
  { settings, isolation, machineClasses }: ProcessExecutorOptions,
  cpus: CpuShares,
): Confinement {
  const found = machineClasses.get(machineClass);
  const { max_processes: maxProcesses, max_file_gb: maxFileGb } = settings;
  const limits = {
    machineClass,
    memoryBytes: found === undefined ? null : Math.floor(found.memoryGb * 2 ** 30),
    maxProcesses,
    maxFileBytes: maxFileGb === undefined ? null : Math.floor(maxFileGb * 2 ** 30),
  };
  return {
    sandbox: isolation.type === 'none' ? null : isolation.sandbox,
    limits,
    cpus: (found === undefined ? undefined : cpus.take(id, found.cpus)) ?? null,
  };
}

/** The command, bound to these cores; what it starts stays on them. */
function onCores(
  cores: readonly number[] | null,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return cores === null || !existsSync(TASKSET) ? command : [TASKSET, '--cpu-list', cores.join(','), ...command];
}

/** A job that an earlier service started keeps the cores that it was given then. */
function adoptCores(jobId: string, folder: JobFolder, shares: CpuShares): void {
  if (shares.has(jobId)) return;
  shares.adopt(jobId, readConfinement(folder.confinement)?.cpus ?? []);
}

async function launchError(folder: JobFolder, cause: unknown): Promise<AppError> {
  const detail = (await readJobText(folder.runnerLog, MAX_WORDS))?.trim() || String(cause);
  return new AppError('missing', `The job's runner could not be started: ${detail}`, { cause });
}
