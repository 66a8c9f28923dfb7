import { availableParallelism } from 'node:os';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { bootIdentity, endProcesses, processIdentity } from '../../core/processes/processTree.ts';
import { CpuShares } from './cpuShares.ts';
import type { Executor, RunnableJob } from '../executor/executor.ts';
import type { ExecutorContext } from '../executor/executorKind.ts';
import { memoryShortage } from './freeMemory.ts';
import { type Isolation, unisolatedRefusal } from './isolation.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import { readClaim, readStarted, type StartedMarker } from '../jobFiles/markers.ts';
import type { ProcessSettings } from './processConfig.ts';
import { allowedEnvironment } from '../../core/processes/childEnvironment.ts';
import { type Confinement, readConfinement } from '../jobFiles/confinement.ts';
import { type JobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import { writeRunnerInput } from '../jobFiles/runnerInput.ts';
import { jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import { SEALED } from '../jobFiles/reportSeal.ts';
import { PRLIMIT } from '../sandbox/sandboxStart.ts';
import { openRunnerSecrets } from './runnerSecrets.ts';

const CLAIM_POLL_MS = 10;
const MAX_WORDS = 500;
// Part of util-linux, which installs it here on every distribution.
const TASKSET = '/usr/bin/taskset';
const NICE = '/usr/bin/nice';
const IONICE = '/usr/bin/ionice';

type Context = Pick<ExecutorContext, 'runner' | 'data' | 'killGraceMs' | 'machineClasses' | 'accounts'>;

export interface ProcessExecutorOptions extends Context {
  readonly settings: ProcessSettings;
  readonly isolation: Isolation;
}

/**
 * Runs jobs as processes of this machine and this user, within the limits of their machine class. Without isolation, a job can do
 * whatever the user can do.
 */
export function createProcessExecutor(options: ProcessExecutorOptions): Executor {
  const { runner, killGraceMs, settings, isolation, accounts, data } = options;
  const cpus = new CpuShares();
  const running = new Set<string>();
  const secretOf = openRunnerSecrets(data);
  return {
    capacity: settings.max_jobs ?? availableParallelism(),
    isLocal: true,
    refusal: () => unisolatedRefusal(isolation, accounts),
    keepsEnvironments: () => isolation.type !== 'none' || accounts() < 2,

    async launch(job, folder, signal, secrets) {
      if (existsSync(folder.claim)) return;
      const refusal = unisolatedRefusal(isolation, accounts);
      // The job waits, because an account may be disabled, and the next service may isolate jobs.
      if (refusal !== undefined) throw new AppError('unreachable', refusal);
      const others = running.size - Number(running.has(job.id));
      const machineClass = options.machineClasses.get(job.machineClass);
      const shortage = memoryShortage(machineClass, { minFreeGb: settings.min_free_memory_gb, running: others });
      if (shortage !== undefined) throw new AppError('unreachable', shortage);
      running.add(job.id);
      const confinement = confinementOf(job, options, cpus);
      writeMarker(folder.confinement, confinement);
      const log = openSync(folder.runnerLog, 'a', 0o600);
      const [file, ...args] = withPriority(
        settings.nice,
        withLimits(confinement, [process.execPath, runner, folder.path, SEALED]),
      );
      const child = spawn(file, args, {
        cwd: folder.path,
        detached: true,
        windowsHide: true,
        stdio: ['pipe', 'ignore', log],
        env: allowedEnvironment(process.env, ['ELECTRON_RUN_AS_NODE']),
      });
      closeSync(log);
      child.stdin?.on('error', () => {}); // it could not be started or has ended, which is reported below
      child.stdin?.end(writeRunnerInput({ seal: secretOf(job.id), secrets }));
      let ended: { cause: unknown } | undefined;
      child.once('error', (error) => (ended = { cause: error }));
      child.once('exit', (code) => (ended ??= { cause: code }));
      child.unref();
      while (!existsSync(folder.claim)) {
        if (ended !== undefined) {
          // It ran the job, which removed the claim.
          if (ended.cause === 0 || !existsSync(folder.path)) return;
          throw await launchError(folder, ended.cause);
        }
        await sleep(CLAIM_POLL_MS, undefined, { signal });
      }
    },

    async status({ id: jobId }, folder) {
      const claim = await readClaim(folder.claim);
      const isRunning = claim !== undefined && processIdentity(claim.pid) === claim.identity;
      if (isRunning) running.add(jobId);
      if (isRunning) cpus.adopt(jobId, () => readConfinement(folder.confinement)?.cpus ?? []);
      else cpus.release(jobId);
      return { state: isRunning ? 'running' : 'gone' };
    },

    externalId: () => undefined,

    reportSecret: secretOf,

    // The runner sees the cancel file in its folder within a moment.
    cancel: () => Promise.resolve(),

    async cleanUp({ id: jobId }, folder) {
      const started = await readStarted(folder.started).catch(() => undefined);
      const sandbox = readConfinement(folder.confinement)?.sandbox ?? null;
      // The kernel ends a sandbox with its runner, except one that was still being set up, which has no such marker.
      if (sandbox !== null && started?.init !== undefined) await endProcesses({ init: started.init }, killGraceMs);
      else await endProcesses({ group: started && groupOf(started), mark: jobProcessTag(jobId) }, killGraceMs);
    },

    forget(jobId) {
      cpus.release(jobId);
      running.delete(jobId);
    },

    stop: () => Promise.resolve(),
  };
}

/** The process group of a script, which may outlive the script; undefined if its ID was reused. */
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
    memoryBytes: found === undefined ? null : Math.floor(found.memory_gb * 2 ** 30),
    maxProcesses,
    maxFileBytes: maxFileGb === undefined ? null : Math.floor(maxFileGb * 2 ** 30),
  };
  return {
    sandbox: isolation.type === 'none' ? null : isolation.sandbox,
    limits,
    cpus: (found === undefined ? undefined : cpus.take(id, found.cpus)) ?? null,
  };
}

/**
 * The command with its cores and its file size limit, which its children inherit. Both are set on the runner, before anything that
 * the account chose: a program that starts the job's program would have the job's variables.
 */
function withLimits(
  { cpus, limits: { maxFileBytes } }: Confinement,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  const onCores: readonly [string, ...string[]] =
    cpus === null || !existsSync(TASKSET) ? command : [TASKSET, '--cpu-list', cpus.join(','), ...command];
  return maxFileBytes === null || !existsSync(PRLIMIT) ? onCores : [PRLIMIT, `--fsize=${maxFileBytes}`, ...onCores];
}

/** The command with a lower priority for processor and disk, which all of its processes inherit, also in a sandbox. */
function withPriority(nice: number, command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (nice === 0 || !existsSync(NICE)) return command;
  // The lowest best-effort priority, because idle priority would not read at all on a busy disk.
  const onDisk = existsSync(IONICE) ? [IONICE, '--ignore', '--class', '2', '--classdata', '7'] : [];
  return [NICE, '-n', String(nice), ...onDisk, ...command];
}

async function launchError(folder: JobFolder, cause: unknown): Promise<AppError> {
  const detail = (await readJobText(folder.runnerLog, MAX_WORDS))?.trim() || String(cause);
  return new AppError('missing', `The job's runner could not be started: ${detail}`, { cause });
}
