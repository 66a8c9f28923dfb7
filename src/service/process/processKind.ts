import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { findProgram } from '../../core/processes/findProgram.ts';
import { formatCount } from '../../core/text/format.ts';
import { JobCgroups } from '../cgroups/jobCgroups.ts';
import { machineMemory } from '../cgroups/machineMemory.ts';
import { type MachineClass, thisMachine } from '../config/machineClasses.ts';
import { type ExecutorCheck, type ExecutorCheckContext, defineExecutor } from '../executor/executorKind.ts';
import { jobFolder } from '../jobFiles/jobFolder.ts';
import { describeIsolation, findIsolation, unisolatedRefusal } from './isolation.ts';
import { checkOvercommitment, type MachineResources, mostProcesses } from './overcommitment.ts';
import { processClasses, type ProcessSettings, processSettings } from './processConfig.ts';
import { createProcessExecutor } from './processExecutor.ts';
import { type MachineSize, Reservations } from '../placement/reservations.ts';
import { allowedCores } from '../placement/cpuShares.ts';
import { GpuFinder, type KnownGpus } from '../placement/gpus.ts';
import { NO_LOCKS, openGpuLocks } from '../placement/gpuLocks.ts';

/** Runs jobs as processes on the service's machine. */
export const processKind = defineExecutor({
  shape: { process: processSettings.prefault({}), machine_classes: processClasses.optional() },

  async create({ process: settings }, context) {
    const isolation = await findIsolation(settings, context);
    context.log.info(describeIsolation(isolation));
    const refusal = unisolatedRefusal(isolation, context.accounts);
    if (refusal !== undefined) context.log.warn(refusal);
    const cgroups = JobCgroups.open(context.data, settings.nice);
    context.log.info(describeLimits(cgroups));
    const files = join(context.filesFolder, 'jobs');
    await cgroups?.sweep((jobId) => !existsSync(jobFolder(join(files, jobId)).spec));
    const gpus = new GpuFinder({ chosen: settings.gpus, env: process.env });
    const { machineClasses, log } = context;
    const locks = openGpuLocks(process.env['PATH'] ?? '', log) ?? NO_LOCKS;
    const size = machineSize(settings);
    const memory = { unused: () => machineMemory().unused / 2 ** 30, keptFree: settings.min_free_memory_gb };
    const reservations = new Reservations({ size, memory, machineClasses, gpus: () => gpus.known, locks });
    return createProcessExecutor({ ...context, settings, isolation, cgroups, gpus, reservations });
  },

  async check({ process: settings, machine_classes: classes = [] }, context) {
    const gpus = await askForGpus(settings);
    return [
      await checkIsolation(settings, context),
      checkLimits(settings, context),
      checkGpus(gpus),
      ...classes.map((one) => checkSize(one, gpus)),
      ...checkSharing(classes),
      ...checkOvercommitment(
        {
          classes: classes.length === 0 ? [thisMachine()] : classes,
          maxJobs: settings.max_jobs ?? availableParallelism(),
          maxProcesses: settings.max_processes,
        },
        machineResources(context.data, gpus),
      ),
      checkFreeMemory(settings),
    ];
  },
});

async function askForGpus({ gpus: chosen }: ProcessSettings): Promise<KnownGpus> {
  const finder = new GpuFinder({ chosen, env: process.env });
  await finder.refresh();
  finder.dispose();
  return finder.known;
}

function checkGpus(gpus: KnownGpus): ExecutorCheck {
  if (gpus.type === 'known') {
    const lockless = gpus.gpus.length > 0 && findProgram('flock', process.env['PATH'] ?? '') === undefined;
    const warning =
      'The program flock is not installed, so jobs of two services on this machine can get the same GPU. Install util-linux, or run one service.';
    return {
      what: `jobs can have ${formatCount(gpus.gpus.length, 'GPU')}`,
      problem: undefined,
      ...(lockless && { warning }),
    };
  }
  const warning = `The GPUs of this machine are not known: ${gpus.why}. Jobs that need one wait. Repair the driver, or set [process] gpus.`;
  return { what: 'the GPUs of the machine are known', problem: undefined, warning };
}

/** Reports a class whose GPUs the machine does not have, and warns of one that is larger otherwise: its jobs run one after the other. */
function checkSize({ name, cpus, memory_gb: memoryGb, gpus }: MachineClass, known: KnownGpus): ExecutorCheck {
  const cores = availableParallelism();
  const memory = machineMemory().total / 2 ** 30;
  const what = `the machine class ${name} has ${formatCount(cpus, 'core')} and ${memoryGb} GB`;
  if (known.type === 'known' && gpus > known.gpus.length) {
    const problem = `it asks for ${formatCount(gpus, 'GPU')}, and jobs can have ${known.gpus.length}, so its jobs are refused. Lower its gpus, or set [process] gpus`;
    return { what, problem };
  }
  if (cpus <= cores && memoryGb <= memory) return { what, problem: undefined };
  const warning = `The machine class ${name} is larger than this machine, which has ${formatCount(cores, 'core')} and ${memory.toFixed(1)} GB. Its jobs run alone, one after the other, and get less than the class promises. Make it smaller, or remove it.`;
  return { what, problem: undefined, warning };
}

/** Warns of a class that has the GPUs of the machine together with others, beside one that has them for itself. */
function checkSharing(classes: readonly MachineClass[]): readonly ExecutorCheck[] {
  const shared = classes.find((one) => one.shared === true);
  const exclusive = classes.find((one) => one.shared !== true && one.gpus > 0);
  if (shared === undefined || exclusive === undefined) return [];
  const what = `jobs of the machine class ${exclusive.name} have GPUs for themselves`;
  const warning = `Jobs of the machine class ${shared.name} share all GPUs that are free when they start, so jobs of ${exclusive.name} wait for their end. Remove shared = true, and say what ${shared.name} needs.`;
  return [{ what, problem: undefined, warning }];
}

function machineSize({ max_jobs: jobs = availableParallelism() }: ProcessSettings): MachineSize {
  return { jobs, cpus: allowedCores().length, memoryGb: machineMemory().total / 2 ** 30 };
}

/** @param folder on the disk with the files of jobs. */
function machineResources(folder: string, gpus: KnownGpus): MachineResources {
  return {
    cpus: availableParallelism(),
    memoryGb: machineMemory().total / 2 ** 30,
    gpus: gpus.type === 'known' ? gpus.gpus.length : 0,
    diskGb: freeGb(folder),
    processes: mostProcesses(),
  };
}

/** Of the disk; infinite if the folder is missing, which another check reports. */
function freeGb(folder: string): number {
  const { bavail, bsize } = existsSync(folder) ? statfsSync(folder) : { bavail: Number.POSITIVE_INFINITY, bsize: 1 };
  return (bavail * bsize) / 1e9;
}

/** Warns of a minimum that the machine never has. */
function checkFreeMemory({ min_free_memory_gb: minFree }: ProcessSettings): ExecutorCheck {
  const memory = machineMemory().total / 2 ** 30;
  const what = `${minFree} GB of memory stay free`;
  if (minFree < memory) return { what, problem: undefined };
  const problem = `the machine has ${memory.toFixed(1)} GB, so no job would ever start. Lower [process] min_free_memory_gb`;
  return { what, problem };
}

function checkLimits({ nice }: ProcessSettings, { data }: ExecutorCheckContext): ExecutorCheck {
  // Under a name of its own, because a service may be running that is about to start a job.
  const cgroups = JobCgroups.open(join(data, 'check'), nice);
  cgroups?.close();
  return { what: describeLimits(cgroups), problem: undefined };
}

/** One line about who enforces the limits of jobs, for people. */
function describeLimits(cgroups: JobCgroups | undefined): string {
  if (cgroups !== undefined) return cgroups.describe();
  const how =
    'their runners check memory and processes a few times a second, and accounts do not get equal shares of the processor';
  return `the service may make no control groups for jobs: ${how}`;
}

async function checkIsolation(settings: ProcessSettings, context: ExecutorCheckContext): Promise<ExecutorCheck> {
  try {
    const isolation = await findIsolation(settings, context);
    const accounts = await context.accounts();
    return { what: describeIsolation(isolation), problem: unisolatedRefusal(isolation, () => accounts) };
  } catch (error) {
    return { what: 'jobs are isolated', problem: messageOf(error) };
  }
}
