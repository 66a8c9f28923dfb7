import { slurmMachineClass } from '../batch/slurmConfig.ts';
import type { Associations, UsablePartition } from './usablePartitions.ts';

// Of a node without GPUs, a job gets this many processors, unless it requests the class of whole nodes.
const FEW_CPUS = 4;
const MAX_PARTITIONS = 20;
const MAX_CHOICES = 50;
const MAX_NAME = 64;
const MAX_SHOWN_TYPES = 4;

/** A machine class as the configuration has it. */
export interface ProposedClass {
  readonly name: string;
  readonly description: string;
  readonly partition: string;
  readonly cpus: number;
  readonly memory_gb: number;
  readonly gpus: number;
  readonly sbatch?: readonly string[];
  readonly allow?: { readonly account?: readonly string[]; readonly qos?: readonly string[] };
}

/**
 * Machine classes for the partitions of a cluster: one for a GPU or a few processors with their share of a node's memory, and one for a
 * whole node. What the configuration would refuse is left out.
 */
export function proposeClasses(partitions: readonly UsablePartition[]): readonly ProposedClass[] {
  const names = new Set(partitions.map(({ name }) => name));
  const classes = partitions.slice(0, MAX_PARTITIONS).flatMap((partition) => {
    const { name, cpus, gpus } = partition;
    const part = gpus > 0 ? Math.max(1, Math.floor(cpus / gpus)) : Math.min(cpus, FEW_CPUS);
    const small = classOf(partition, { name, cpus: part, gpus: Math.min(1, gpus) });
    const whole = `${name}-node`;
    if ((part === cpus && gpus <= 1) || names.has(whole)) return [small];
    return [small, classOf(partition, { name: whole, cpus, gpus })];
  });
  return classes.filter((one) => slurmMachineClass.safeParse(one).success);
}

function classOf(
  { name: partition, cpus: nodeCpus, gpus: nodeGpus, memoryMb, ...rest }: UsablePartition,
  { name, cpus, gpus }: { readonly name: string; readonly cpus: number; readonly gpus: number },
): ProposedClass {
  const { gpuTypes, timeLimit, accounts, qos, sbatch, isCapped } = rest;
  const isWhole = cpus === nodeCpus && gpus === nodeGpus;
  const size = isCapped ? 'as much of a node as a job may have' : 'a whole node';
  const types = gpuTypes.length > MAX_SHOWN_TYPES ? [...gpuTypes.slice(0, MAX_SHOWN_TYPES), '…'] : gpuTypes;
  const limit = timeLimit === undefined ? [] : [`at most ${timeLimit}`];
  const allow = {
    ...(accounts.length > 1 && { account: accounts }),
    ...(qos.length > 1 && { qos }),
  };
  return {
    name,
    description: [`Partition ${partition}`, ...(isWhole ? [size] : []), ...types, ...limit].join(', '),
    partition,
    cpus,
    memory_gb: gibibytes((memoryMb * cpus) / nodeCpus),
    gpus,
    ...(sbatch.length > 0 && { sbatch }),
    ...(Object.keys(allow).length > 0 && { allow }),
  };
}

/** Rounded down, because a cluster refuses a job that requests more than its nodes have. */
function gibibytes(megabytes: number): number {
  const whole = Math.floor(megabytes);
  return whole < 1024 ? whole / 1024 : Math.floor((whole / 1024) * 10) / 10;
}

/** The accounts and qualities of service in lines like `physics|normal,high`. */
export function readAssociations(output: string): Associations {
  const rows = output.split('\n').map((line) => line.trim().split('|'));
  const names = (column: number): readonly string[] => [
    ...new Set(
      rows
        .flatMap((row) => (row[column] ?? '').split(','))
        .filter((name) => name.length <= MAX_NAME && /^[\w.-]+$/.test(name)),
    ),
  ];
  return { accounts: names(0).slice(0, MAX_CHOICES), qos: names(1).slice(0, MAX_CHOICES) };
}
