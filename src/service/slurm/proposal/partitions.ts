// Longer than the name of any model and any time, and more GPUs than any node has.
const MAX_TYPE = 32;
const MAX_PARTITIONS = 1_000;
const MAX_GPUS = 1_024;
const MAX_LIMIT = 20;

/** The `--format` of sinfo(1) that `readPartitions` reads. */
export const PARTITION_FORMAT = '%P|%a|%c|%m|%G|%l';

/** A partition of a cluster that accepts jobs, with what each of its nodes has at least. */
export interface Partition {
  readonly name: string;
  readonly isDefault: boolean;
  readonly cpus: number;
  /** Mebibytes. */
  readonly memoryMb: number;
  readonly gpus: number;
  /** The models of its GPUs, as the cluster names them. */
  readonly gpuTypes: readonly string[];
  /** As Slurm writes it, like `7-00:00:00`; undefined without a limit. */
  readonly timeLimit: string | undefined;
}

/** The partitions in an answer of sinfo, the default one first. Nodes of a partition that differ have a line each. */
export function readPartitions(output: string): readonly Partition[] {
  const partitions = new Map<string, Partition>();
  for (const line of output.split('\n')) {
    const read = readLine(line.trim());
    if (read === undefined) continue;
    const known = partitions.get(read.name);
    if (known === undefined && partitions.size === MAX_PARTITIONS) continue;
    partitions.set(read.name, known === undefined ? read : withLeast(known, read));
  }
  return [...partitions.values()].toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault));
}

function readLine(line: string): Partition | undefined {
  const [partition = '', state, cpus = '', memory = '', gres = '', limit = ''] = line.split('|');
  const { 1: name, 2: star } = /^([\w.-]{1,64})(\*?)$/.exec(partition) ?? [];
  // A plus sign means that some nodes have more.
  const [cpuCount, memoryMb] = [cpus, memory].map((count) =>
    /^\d{1,15}\+?$/.test(count) ? Number.parseInt(count, 10) : 0,
  );
  if (name === undefined || state !== 'up' || !cpuCount || !memoryMb) return undefined;
  return { name, isDefault: star === '*', cpus: cpuCount, memoryMb, ...readGpus(gres), timeLimit: readLimit(limit) };
}

/** `gpu:a100:4(S:0-1),gpu:v100:2`, `gpu:2`, `(null)` */
function readGpus(gres: string): Pick<Partition, 'gpus' | 'gpuTypes'> {
  const found = [...gres.matchAll(/(?:^|,)gpu(?::([A-Za-z][\w.-]*))?:(\d+)/g)];
  const gpus = found.reduce((sum, [, , count]) => sum + Number(count), 0);
  const types = new Set(found.flatMap(([, type = '']) => (type !== '' && type.length <= MAX_TYPE ? [type] : [])));
  return { gpus: Math.min(gpus, MAX_GPUS), gpuTypes: [...types] };
}

function readLimit(limit: string): string | undefined {
  return limit.length <= MAX_LIMIT && /^[\d:-]+$/.test(limit) ? limit : undefined;
}

function withLeast(a: Partition, b: Partition): Partition {
  return {
    ...a,
    cpus: Math.min(a.cpus, b.cpus),
    memoryMb: Math.min(a.memoryMb, b.memoryMb),
    gpus: Math.min(a.gpus, b.gpus),
    gpuTypes: [...new Set([...a.gpuTypes, ...b.gpuTypes])],
  };
}
