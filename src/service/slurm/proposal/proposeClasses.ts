import type { Partition } from './partitions.ts';

// Of a node without GPUs, a job gets this many processors, unless it requests the class of whole nodes.
const FEW_CPUS = 4;
const MAX_PARTITIONS = 20;

/** What the cluster lets its user choose (sacctmgr(1)). */
export interface Associations {
  readonly accounts: readonly string[];
  readonly qos: readonly string[];
}

/** A machine class as the configuration has it. */
export interface ProposedClass {
  readonly name: string;
  readonly description: string;
  readonly partition: string;
  readonly cpus: number;
  readonly memory_gb: number;
  readonly gpus: number;
  readonly allow?: { readonly account?: readonly string[]; readonly qos?: readonly string[] };
}

/**
 * Machine classes for the partitions of a cluster: one for a GPU or a few processors with their share of a node's memory, and one for a
 * whole node.
 */
export function proposeClasses(partitions: readonly Partition[], associations: Associations): readonly ProposedClass[] {
  return partitions.slice(0, MAX_PARTITIONS).flatMap((partition) => {
    const { name, cpus, gpus } = partition;
    const part = gpus > 0 ? Math.max(1, Math.floor(cpus / gpus)) : Math.min(cpus, FEW_CPUS);
    const small = classOf(partition, associations, { name, cpus: part, gpus: Math.min(1, gpus) });
    if (part === cpus && gpus <= 1) return [small];
    return [small, classOf(partition, associations, { name: `${name}-node`, cpus, gpus })];
  });
}

function classOf(
  { name: partition, cpus: nodeCpus, gpus: nodeGpus, memoryMb, gpuTypes, timeLimit }: Partition,
  { accounts, qos }: Associations,
  { name, cpus, gpus }: { readonly name: string; readonly cpus: number; readonly gpus: number },
): ProposedClass {
  const isWhole = cpus === nodeCpus && gpus === nodeGpus;
  const limit = timeLimit === undefined ? [] : [`at most ${timeLimit}`];
  const allow = {
    ...(accounts.length > 1 && { account: accounts }),
    ...(qos.length > 1 && { qos }),
  };
  return {
    name,
    description: [`Partition ${partition}`, ...(isWhole ? ['a whole node'] : []), ...gpuTypes, ...limit].join(', '),
    partition,
    cpus,
    memory_gb: gibibytes((memoryMb * cpus) / nodeCpus),
    gpus,
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
    ...new Set(rows.flatMap((row) => (row[column] ?? '').split(',')).filter((name) => /^[\w.-]+$/.test(name))),
  ];
  return { accounts: names(0), qos: names(1) };
}
