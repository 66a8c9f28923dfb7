/** Who may use a partition and what a job may have of its nodes (scontrol(1), `show partition`). Undefined without a restriction. */
export interface PartitionRules {
  /** Whether only root, or only jobs with a reservation, may use it. */
  readonly isReserved: boolean;
  readonly accounts: NameRule;
  readonly qos: NameRule;
  readonly maxCpus: number | undefined;
  /** Mebibytes. */
  readonly maxMemoryMb: number | undefined;
}

/** A partition has at most one of the two lists. */
interface NameRule {
  readonly allowed?: ReadonlySet<string> | undefined;
  readonly denied?: ReadonlySet<string> | undefined;
}

/** The rules of each partition in an answer of `scontrol --oneliner show partition`. */
export function readPartitionRules(output: string): ReadonlyMap<string, PartitionRules> {
  const rules = new Map<string, PartitionRules>();
  for (const record of output.split('\n')) {
    const name = field(record, 'PartitionName');
    if (name === undefined) continue;
    rules.set(name, {
      isReserved: field(record, 'RootOnly') === 'YES' || field(record, 'ReqResv') === 'YES',
      accounts: { allowed: names(record, 'AllowAccounts'), denied: names(record, 'DenyAccounts') },
      qos: { allowed: names(record, 'AllowQos'), denied: names(record, 'DenyQos') },
      maxCpus: count(record, 'MaxCPUsPerNode'),
      maxMemoryMb: count(record, 'MaxMemPerNode'),
    });
  }
  return rules;
}

/** The names that a rule permits. @param above returns other names that permit a name too. */
export function permitted(
  own: readonly string[],
  { allowed, denied }: NameRule,
  above: (name: string) => readonly string[] = () => [],
): readonly string[] {
  // Slurm ignores the case of these names.
  return own.filter((name) => {
    const isAllowed = allowed === undefined || [name.toLowerCase(), ...above(name)].some((each) => allowed.has(each));
    return isAllowed && denied?.has(name.toLowerCase()) !== true;
  });
}

/** What jobs can have of a node. */
export interface NodeSize {
  readonly cpus: number;
  /** Mebibytes. */
  readonly memoryMb: number;
}

/** The least that jobs can have of a node of each partition, without what nodes reserve for their system, from `scontrol --oneliner show node`. */
export function readNodeSizes(output: string): ReadonlyMap<string, NodeSize> {
  const sizes = new Map<string, NodeSize>();
  for (const record of output.split('\n')) {
    const size = nodeSize(record);
    if (size === undefined) continue;
    for (const partition of field(record, 'Partitions')?.split(',') ?? []) {
      const known = sizes.get(partition) ?? size;
      sizes.set(partition, {
        cpus: Math.min(known.cpus, size.cpus),
        memoryMb: Math.min(known.memoryMb, size.memoryMb),
      });
    }
  }
  return sizes;
}

function nodeSize(record: string): NodeSize | undefined {
  const cpus = count(record, 'CPUTot');
  const memoryMb = count(record, 'RealMemory');
  if (cpus === undefined || memoryMb === undefined) return undefined;
  const reservedCpus = (count(record, 'CoreSpecCount') ?? 0) * (count(record, 'ThreadsPerCore') ?? 1);
  return {
    // Slurm 22.05 and later compute it themselves.
    cpus: count(record, 'CPUEfctv') ?? cpus - reservedCpus,
    memoryMb: memoryMb - (count(record, 'MemSpecLimit') ?? 0),
  };
}

/** The first field with this key, because free text, such as the reason of a drain, comes last. */
function field(record: string, key: string): string | undefined {
  return new RegExp(`(?:^|\\s)${key}=(\\S+)`).exec(record)?.[1];
}

function count(record: string, key: string): number | undefined {
  const text = field(record, key) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function names(record: string, key: string): ReadonlySet<string> | undefined {
  const text = field(record, key);
  return text === undefined || text === 'ALL' ? undefined : new Set(text.toLowerCase().split(','));
}
