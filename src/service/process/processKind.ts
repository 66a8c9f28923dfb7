import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { JobCgroups } from '../cgroups/jobCgroups.ts';
import { countGpus } from '../config/machineClasses.ts';
import { type MachineClass, machineClass, machineClassList, thisMachine } from '../config/machineClasses.ts';
import { type ExecutorCheck, type ExecutorCheckContext, defineExecutor } from '../executor/executorKind.ts';
import { jobFolder } from '../jobFiles/jobFolder.ts';
import { describeIsolation, findIsolation, unisolatedRefusal } from './isolation.ts';
import { checkOvercommitment, type MachineResources, mostProcesses } from './overcommitment.ts';
import { type ProcessSettings, processSettings } from './processConfig.ts';
import { createProcessExecutor } from './processExecutor.ts';

/** Runs jobs as processes on the service's machine. */
export const processKind = defineExecutor({
  shape: { process: processSettings.prefault({}), machine_classes: machineClassList(machineClass).optional() },

  async create({ process: settings }, context) {
    const isolation = await findIsolation(settings, context);
    context.log.info(describeIsolation(isolation));
    const refusal = unisolatedRefusal(isolation, context.accounts);
    if (refusal !== undefined) context.log.warn(refusal);
    const cgroups = JobCgroups.open(context.data, settings.nice);
    context.log.info(describeLimits(cgroups));
    const files = join(context.filesFolder, 'jobs');
    await cgroups?.sweep((jobId) => !existsSync(jobFolder(join(files, jobId)).spec));
    return createProcessExecutor({ ...context, settings, isolation, cgroups });
  },

  check: async ({ process: settings, machine_classes: classes = [] }, context) => [
    await checkIsolation(settings, context),
    checkLimits(settings, context),
    ...classes.map((one) => checkSize(one)),
    ...checkOvercommitment(
      {
        classes: classes.length === 0 ? [thisMachine()] : classes,
        maxJobs: settings.max_jobs ?? availableParallelism(),
        maxProcesses: settings.max_processes,
      },
      machineResources(context.data),
    ),
    checkFreeMemory(settings),
  ],
});

/** Warns of a class that is larger than this machine: its jobs run, with less than they pay for. */
function checkSize({ name, cpus, memory_gb: memoryGb }: MachineClass): ExecutorCheck {
  const cores = availableParallelism();
  const memory = totalmem() / 2 ** 30;
  const what = `the machine class ${name} has ${formatCount(cpus, 'core')} and ${memoryGb} GB`;
  if (cpus <= cores && memoryGb <= memory) return { what, problem: undefined };
  const warning = `The machine class ${name} is larger than this machine, which has ${formatCount(cores, 'core')} and ${memory.toFixed(1)} GB. Its jobs start but get less than the class promises. Make it smaller, or remove it.`;
  return { what, problem: undefined, warning };
}

/** @param folder on the disk with the files of jobs. */
function machineResources(folder: string): MachineResources {
  return {
    cpus: availableParallelism(),
    memoryGb: totalmem() / 2 ** 30,
    gpus: countGpus(),
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
  const memory = totalmem() / 2 ** 30;
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
