import { readFileSync } from 'node:fs';
import { formatCount, formatNumber } from '../../core/text/format.ts';
import type { MachineClass } from '../config/machineClasses.ts';
import type { ExecutorCheck } from '../executor/executorKind.ts';

/** What a machine has for jobs. */
export interface MachineResources {
  readonly cpus: number;
  /** GiB. */
  readonly memoryGb: number;
  readonly gpus: number;
  /** Free on the disk of the jobs' files, in 10^9 bytes. */
  readonly diskGb: number;
  /** Processes and threads that the system lets the service's user have; undefined where that is not known. */
  readonly processes: number | undefined;
}

interface Plan {
  readonly classes: readonly MachineClass[];
  /** Jobs that run at once. */
  readonly maxJobs: number;
  /** Processes and threads of one job. */
  readonly maxProcesses: number;
}

interface Kind {
  readonly name: string;
  readonly unit: string;
  /** What one job of a class may use; undefined if nothing limits it. */
  readonly of: (one: MachineClass) => number | undefined;
  readonly has: number;
  readonly consequence: string;
  /** The setting that lowers what one job may use. */
  readonly setting: string;
  readonly isWhole: boolean;
  /** Whether jobs reserve it, unless their class is shared. */
  readonly isReserved: boolean;
}

/**
 * Warns of what jobs that run at once may use together and the machine does not have, once for each kind of resource. The worst case
 * counts: as many jobs as may run at once, all of the class that may use the most. Of what jobs reserve, only shared classes can use too much.
 */
export function checkOvercommitment(
  { classes, maxJobs, maxProcesses }: Plan,
  machine: MachineResources,
): readonly ExecutorCheck[] {
  const kinds: readonly Kind[] = [
    {
      name: 'cores',
      unit: 'cores',
      of: ({ cpus }) => cpus,
      has: machine.cpus,
      consequence: 'jobs then share cores, and take longer than the class promises',
      setting: 'cpus of the class',
      isWhole: true,
      isReserved: true,
    },
    {
      name: 'memory',
      unit: 'GB of memory',
      of: ({ memory_gb: memoryGb }) => memoryGb,
      has: machine.memoryGb,
      consequence: 'the system then stops some of the jobs, or swaps',
      setting: 'memory_gb of the class',
      isWhole: false,
      isReserved: true,
    },
    {
      name: 'GPUs',
      unit: 'GPUs',
      of: ({ gpus }) => gpus,
      has: machine.gpus,
      consequence: 'jobs then share GPUs',
      setting: 'gpus of the class',
      isWhole: true,
      isReserved: true,
    },
    {
      name: 'disk',
      unit: 'GB of disk',
      of: ({ disk_gb: diskGb }) => diskGb,
      has: machine.diskGb,
      consequence: 'a full disk then stops jobs, those with the most files first',
      setting: 'disk_gb of the class',
      isWhole: false,
      isReserved: false,
    },
    {
      name: 'processes',
      unit: 'processes',
      of: () => maxProcesses,
      has: machine.processes ?? Number.POSITIVE_INFINITY,
      consequence: 'then no program of the machine can start another one, the service included',
      setting: '[process] max_processes',
      isWhole: true,
      isReserved: false,
    },
  ];
  return kinds.map((kind) => {
    const users = kind.isReserved ? classes.filter(({ shared }) => shared === true) : classes;
    const warning = warningOf(kind, users, maxJobs);
    const what = `${formatCount(maxJobs, 'job')} at once and the ${kind.name} of the machine`;
    return { what, problem: undefined, ...(warning !== undefined && { warning }) };
  });
}

function warningOf(
  { of, has, unit, consequence, setting, isWhole }: Kind,
  classes: readonly MachineClass[],
  maxJobs: number,
): string | undefined {
  const jobs = formatCount(maxJobs, 'job');
  const share = isWhole ? Math.floor(has / maxJobs) : has / maxJobs;
  const smaller = shown(share) === '0' ? [] : [`${setting} to at most ${shown(share)}`];
  const unlimited = classes.find((one) => of(one) === undefined);
  if (unlimited !== undefined) {
    const remedy = smaller.length === 0 ? `Set ${setting}` : `Set ${smaller.join('')}, for ${jobs} at once`;
    return `Nothing limits how many ${unit} a job of the machine class ${unlimited.name} may use, and the machine has ${shown(has)}: ${consequence}. ${remedy}.`;
  }
  const [largest] = classes.toSorted((a, b) => (of(b) ?? 0) - (of(a) ?? 0));
  const each = largest && of(largest);
  if (each === undefined || maxJobs * each <= has) return undefined;
  const most = Math.floor(has / each);
  const fewer = most < 1 ? [] : [`[process] max_jobs to at most ${shown(most)}`];
  const remedies = [...fewer, ...smaller];
  const remedy = remedies.length === 0 ? `Lower ${setting}` : `Set ${remedies.join(', or ')}`;
  return `${jobs} at once of the machine class ${largest?.name} may use ${shown(maxJobs * each)} ${unit}, and the machine has ${shown(has)}: ${consequence}. ${remedy}.`;
}

/** Rounded down, so that what is advised fits. */
function shown(amount: number): string {
  return formatNumber(Math.floor(amount * 10) / 10);
}

/** How many processes and threads the system lets this user have: the lowest of its limits. Undefined where there is no /proc. */
export function mostProcesses(): number | undefined {
  const limits = [
    /^Max processes\s+(\d+)/m.exec(textOf('/proc/self/limits'))?.[1],
    textOf('/proc/sys/kernel/threads-max'),
    textOf('/proc/sys/kernel/pid_max'),
  ].flatMap((text = '') => (/^\d{1,15}\s*$/.test(text) ? [Number(text)] : []));
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
