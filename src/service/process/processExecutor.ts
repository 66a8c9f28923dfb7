import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { createHmac, randomBytes } from 'node:crypto';
import { AppError, systemCode } from '../../core/errors.ts';
import { newLockLimit } from '../../core/processes/lockLimit.ts';
import {
  bootIdentity,
  endProcesses,
  killProcess,
  processIdentity,
  type ProcessReference,
  type ProcessTree,
  untilStopped,
} from '../../core/processes/processTree.ts';
import { killCgroup, processesOf } from '../cgroups/jobCgroup.ts';
import type { JobCgroups } from '../cgroups/jobCgroups.ts';
import { CpuShares } from '../placement/cpuShares.ts';
import type { Executor, OwnedJob, RunnableJob } from '../executor/executor.ts';
import type { ExecutorContext } from '../executor/executorKind.ts';
import type { MachineClass } from '../config/machineClasses.ts';
import { type Gpu, type GpuFinder, gpuVariables } from '../placement/gpus.ts';
import { type Isolation, unisolatedRefusal } from './isolation.ts';
import type { Reservations } from '../placement/reservations.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import { latestProgram, readClaim, type StartedMarker } from '../jobFiles/markers.ts';
import { MAX_GPUS, type ProcessSettings } from './processConfig.ts';
import { allowedEnvironment } from '../../core/processes/childEnvironment.ts';
import { type Confinement, readConfinement } from '../jobFiles/confinement.ts';
import { enterJob } from '../jobFiles/jobEntrance.ts';
import { type JobFolder, jobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import { writeRunnerInput } from '../jobFiles/runnerInput.ts';
import { jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import { SEALED } from '../jobFiles/reportSeal.ts';
import type { PackageTool } from '../../workspace/environments/packageList.ts';
import type { ScriptKindName } from '../../workspace/scripts/scriptKinds.ts';
import { installedTools } from '../runner/environment/environmentBuild.ts';
import { removeDebugFolder } from '../runner/debug/debugFolder.ts';
import { installedKinds } from '../runner/program/interpreter.ts';
import { visibleSearchPath } from '../runner/sandbox.ts';

const CLAIM_POLL_MS = 10;
const POLL_MS = 5_000;
// nvidia-smi takes up to a second of a core.
const DETECTION_MS = 30_000;
// Has the open files that were passed on, and so the locks of the job's GPUs, until the runner ends, which closes them for itself.
const KEEP_LOCKS = ['/bin/sh', '-c', '"$@"; exit $?', 'sh'];
const MAX_WORDS = 500;
// Thousands of processes take seconds to end.
const SANDBOX_END_MS = 30_000;

// Programs are installed and removed while the service runs, and clients ask for them often.
const CURRENT_FOR_MS = 30_000;
const KEY_BYTES = 32;

type Context = Pick<ExecutorContext, 'runner' | 'data' | 'killGraceMs' | 'machineClasses' | 'accounts'>;

export interface ProcessExecutorOptions extends Context {
  readonly settings: ProcessSettings;
  readonly isolation: Isolation;
  readonly gpus: GpuFinder;
  readonly reservations: Reservations;
  /** Undefined where this process may make none. */
  readonly cgroups?: JobCgroups | undefined;
}

/**
 * Runs jobs as processes of this machine and this user, within the limits of their machine class. Without isolation, a job can do
 * whatever the user can do.
 */
export function createProcessExecutor(options: ProcessExecutorOptions): Executor {
  const { runner, killGraceMs, settings, isolation, accounts, data, cgroups, reservations } = options;
  const cpus = new CpuShares();
  const secretOf = openRunnerSecrets(data);
  const installed = new InstalledPrograms(isolation);
  const stopped = new AbortController();
  void watchMachine(options, stopped.signal);
  return {
    capacity: reservations.maxJobs,
    isLocal: true,
    placement: {
      place: (order) => reservations.place(order),
      refusalOf: (machineClass) => reservations.refusalOf(machineClass),
      onDidChange: reservations.onDidChange,
      adopt(job, folder) {
        const { startedAt } = job;
        reservations.adopt(job, { gpus: reservedGpus(folder), startedAt: startedAt ?? Date.now() });
      },
    },
    refusal: () => unisolatedRefusal(isolation, accounts),
    keepsEnvironments: () => isolation.type !== 'none' || accounts() < 2,

    scriptKinds: () => installed.current().kinds,
    packageTools: () => installed.current().tools,

    async launch(job, folder, signal, secrets) {
      if (existsSync(folder.claim)) return;
      // A service that stops has closed the control groups.
      signal.throwIfAborted();
      const refusal = unisolatedRefusal(isolation, accounts);
      // The job waits, because an account may be disabled, and the next service may isolate jobs.
      if (refusal !== undefined) throw new AppError('unreachable', refusal);
      const confinement = confinementOf(job, options, cpus);
      writeMarker(folder.confinement, confinement);
      const log = openSync(folder.runnerLog, 'a', 0o600);
      const locks = (reservations.of(job.id)?.locks ?? []).flatMap(({ descriptor }) => descriptor ?? []);
      const call = [process.execPath, runner, folder.path, SEALED];
      const [program = '', ...args] = locks.length === 0 ? call : [...KEEP_LOCKS, ...call];
      // Neither its cores nor its priority are lowered, so that no job can starve what enforces its limits.
      const child = spawn(program, args, {
        cwd: folder.path,
        detached: true,
        windowsHide: true,
        stdio: ['pipe', 'ignore', log, ...locks],
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
      if (isRunning) cpus.adopt(jobId, () => readConfinement(folder.confinement)?.cpus ?? []);
      else cpus.release(jobId);
      return { state: isRunning ? 'running' : 'gone' };
    },

    externalId: () => undefined,

    reportSecret: secretOf,

    connect: (_job, folder) => enterJob(folder).catch(refusedEntrance),

    // The runner sees the cancel file in its folder within a moment.
    cancel: () => Promise.resolve(),

    async endNow(job, folder) {
      const cgroup = cgroups?.find(job, settings.max_processes);
      const wasRunning = cgroup !== undefined && processesOf(cgroup).length > 0;
      if (cgroup !== undefined) await killCgroup(cgroup);
      const program = await latestProgram(folder);
      if (!isSandboxed(folder)) return (await endProcesses(treeOf(job, program), 0)) || wasRunning;
      const init = program?.init;
      if (init === undefined || processIdentity(init.pid) !== init.identity) return wasRunning;
      await endSandbox(init);
      return true;
    },

    async cleanUp(job, folder) {
      const claim = await readClaim(folder.claim).catch(() => undefined);
      if (claim !== undefined && claim.pid !== process.pid) killProcess(claim);
      const program = await latestProgram(folder);
      // The kernel ends a sandbox with its runner, except one that was still being set up, which has no such marker.
      if (isSandboxed(folder) && program?.init !== undefined) await endSandbox(program.init);
      else await endProcesses(treeOf(job, program), killGraceMs);
      removeDebugFolder(job.id);
      const cgroup = cgroups?.find(job, settings.max_processes);
      if (cgroup !== undefined) await killCgroup(cgroup);
    },

    forget(job) {
      reservations.release(job.id);
      cpus.release(job.id);
      cgroups?.remove(job);
    },

    async stop() {
      stopped.abort();
      options.gpus.dispose();
      reservations.close();
      cgroups?.close();
    },
  };
}

/** Keeps what is known of the GPUs up to date, and tries again what other services and programs had. */
async function watchMachine(
  { gpus, reservations, machineClasses }: Pick<ProcessExecutorOptions, 'gpus' | 'reservations' | 'machineClasses'>,
  signal: AbortSignal,
): Promise<void> {
  const names = machineClasses.names;
  // A laptop's GPU should sleep where jobs have none for themselves.
  const isRepeated = names.some((name) => isExclusive(machineClasses.get(name)));
  let nextDetection = 0;
  while (!signal.aborted) {
    const now = performance.now();
    let hasChanged = reservations.waitsForOthers;
    if (now >= nextDetection) {
      nextDetection = isRepeated ? now + DETECTION_MS : Number.POSITIVE_INFINITY;
      hasChanged = (await gpus.refresh()) || hasChanged;
    }
    if (hasChanged && !signal.aborted) reservations.noteChange();
    await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

function isExclusive(machineClass: MachineClass | undefined): boolean {
  return machineClass !== undefined && machineClass.gpus > 0 && machineClass.shared !== true;
}

/** The GPUs that an earlier service has reserved for a job. */
function reservedGpus(folder: JobFolder): readonly string[] {
  try {
    // A job that is not isolated can have changed it. Whatever it wrote, the locks are its runner's.
    const ids: unknown = readConfinement(folder.confinement)?.gpus?.ids;
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').slice(0, MAX_GPUS) : [];
  } catch {
    return [];
  }
}

function isSandboxed(folder: JobFolder): boolean {
  return (readConfinement(folder.confinement)?.sandbox ?? null) !== null;
}

/** The kernel ends all processes of a sandbox with its first one. */
async function endSandbox(init: ProcessReference): Promise<void> {
  killProcess(init);
  await untilStopped(init, SANDBOX_END_MS);
}

function treeOf({ id }: OwnedJob, program: StartedMarker | undefined): ProcessTree {
  const mark = jobProcessTag(id);
  return { group: program && groupOf(program), mark, lockLimit: newLockLimit(mark) };
}

/** The process group of a script, which may outlive the script; undefined if its ID was reused. */
function groupOf({ pid, identity, boot }: StartedMarker): number | undefined {
  if (boot !== bootIdentity()) return undefined;
  const now = processIdentity(pid);
  return now === undefined || now === identity ? pid : undefined;
}

function confinementOf(
  job: RunnableJob,
  { settings, isolation, machineClasses, cgroups, gpus, reservations }: ProcessExecutorOptions,
  shares: CpuShares,
): Confinement {
  const { id, machineClass } = job;
  const found = machineClasses.get(machineClass);
  const { max_processes: maxProcesses, max_file_gb: maxFileGb } = settings;
  const limits = {
    machineClass,
    memoryBytes: found === undefined ? null : Math.floor(found.memory_gb * 2 ** 30),
    maxProcesses,
    maxFileBytes: maxFileGb === undefined ? null : Math.floor(maxFileGb * 2 ** 30),
  };
  const cpus = (found === undefined ? undefined : shares.take(id, found.cpus)) ?? null;
  const own = reservedOf(job, { machineClass: found, gpus, reservations });
  const accelerators = own && { accelerators: [...own.flatMap(({ nodes }) => nodes), ...gpus.sharedNodes(own)] };
  return {
    sandbox: isolation.type === 'none' ? null : { ...isolation.sandbox, ...accelerators },
    ...(own && {
      gpus: { ids: own.map(({ id }) => id), variables: gpuVariables(own, isolation.type !== 'none') },
    }),
    limits,
    cpus,
    nice: settings.nice,
    cgroup: cgroups?.create(job, { ...limits, cpus }) ?? null,
  };
}

/** The GPUs that a job has; undefined if it sees all that the machine may have. */
function reservedOf(
  { id }: OwnedJob,
  {
    machineClass,
    gpus,
    reservations,
  }: Pick<ProcessExecutorOptions, 'gpus' | 'reservations'> & { readonly machineClass: MachineClass | undefined },
): readonly Gpu[] | undefined {
  const { known } = gpus;
  const all = known.type === 'known' ? known.gpus : [];
  const ids = new Set(reservations.of(id)?.gpus);
  const own = all.filter((gpu) => ids.has(gpu.id));
  if (machineClass?.shared === true) return own.length === all.length ? undefined : own;
  return known.type === 'known' && all.length === 0 && !gpus.isChosen ? undefined : own;
}

function refusedEntrance(cause: unknown): never {
  const message =
    'Nobody can connect to the job now: its packages are being installed, or it is ending. Try again once its script runs.';
  throw new AppError('conflict', message, { cause });
}

async function launchError(folder: JobFolder, cause: unknown): Promise<AppError> {
  const detail = (await readJobText(folder.runnerLog, MAX_WORDS))?.trim() || String(cause);
  return new AppError('missing', `The job's runner could not be started: ${detail}`, { cause });
}

interface Installed {
  readonly kinds: readonly ScriptKindName[];
  readonly tools: readonly PackageTool[];
}

/** The kinds of scripts, and the tools that install packages, whose programs jobs find on this machine. */
class InstalledPrograms {
  readonly #isolation: Isolation;
  #known: (Installed & { readonly at: number }) | undefined;

  constructor(isolation: Isolation) {
    this.#isolation = isolation;
  }

  current(): Installed {
    const now = performance.now();
    if (this.#known === undefined || now - this.#known.at > CURRENT_FOR_MS) {
      const path = this.#searchPath();
      this.#known = { kinds: installedKinds(path), tools: installedTools(path), at: now };
    }
    return this.#known;
  }

  #searchPath(): string {
    const path = process.env['PATH'] ?? '';
    if (this.#isolation.type === 'none') return path;
    const { sandbox } = this.#isolation;
    // No job has this folder, and every job sees the same programs outside of its own.
    return visibleSearchPath(sandbox, { ...jobFolder(join(sandbox.data, 'jobs', 'none')), packages: undefined }, path);
  }
}

/**
 * Returns a function that derives the secret with which a job's runner seals its report. It is the same for every service on this
 * data folder, because runners outlive services. Isolated jobs never see the folder. A job that is not isolated could read the key
 * there, but it could also change the store itself.
 */
function openRunnerSecrets(data: string): (jobId: string) => string {
  const key = readKey(join(data, 'runner.key'));
  return (jobId) => createHmac('sha256', key).update(jobId).digest('hex');
}

function readKey(path: string): Buffer {
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  const key = readFileSync(path);
  if (key.length === KEY_BYTES) return key;
  // A full disk or a power loss truncated it before any runner used it.
  writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flush: true });
  return readFileSync(path);
}
