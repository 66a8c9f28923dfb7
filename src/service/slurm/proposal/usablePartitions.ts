import type { Partition } from './partitions.ts';
import { type NodeSize, type PartitionRules, permitted } from './partitionRules.ts';

/** What the cluster lets its user choose (sacctmgr(1)); empty without accounting. */
export interface Associations {
  readonly accounts: readonly string[];
  readonly qos: readonly string[];
}

/** A partition with what its user's jobs can have of it. */
export interface UsablePartition extends Partition, Associations {
  /** Whether a job may have less than a node. */
  readonly isCapped: boolean;
  /** Options that its jobs need, because the user's default may not be permitted there. */
  readonly sbatch: readonly string[];
}

/** The partitions that accept jobs of the user with these associations. Groups need no check: sinfo lists no partition of another group. */
export function usablePartitions(
  partitions: readonly Partition[],
  {
    rules,
    sizes,
  }: { readonly rules: ReadonlyMap<string, PartitionRules>; readonly sizes: ReadonlyMap<string, NodeSize> },
  own: Associations,
): readonly UsablePartition[] {
  return partitions.flatMap((partition) => {
    const size = sizes.get(partition.name);
    const node = {
      cpus: Math.min(partition.cpus, size?.cpus ?? partition.cpus),
      memoryMb: Math.min(partition.memoryMb, size?.memoryMb ?? partition.memoryMb),
    };
    if (node.cpus < 1 || node.memoryMb < 1) return [];
    const rule = rules.get(partition.name);
    if (rule === undefined) return { ...partition, ...node, ...own, isCapped: false, sbatch: [] };
    const accounts = permitted(own.accounts, rule.accounts);
    const qos = permitted(own.qos, rule.qos);
    // A job of nobody known is in none of the accounts. Without accounting, jobs have no quality of service, and it is not checked.
    const isBarred = accounts.length === 0 && (rule.accounts.allowed !== undefined || own.accounts.length > 0);
    if (rule.isReserved || isBarred || (qos.length === 0 && own.qos.length > 0)) return [];
    const cpus = Math.min(node.cpus, rule.maxCpus ?? node.cpus);
    const memoryMb = Math.min(node.memoryMb, rule.maxMemoryMb ?? node.memoryMb);
    const sbatch = [
      ...(accounts.length < own.accounts.length ? [`--account=${accounts[0]}`] : []),
      ...(qos.length < own.qos.length ? [`--qos=${qos[0]}`] : []),
    ];
    const isCapped = cpus < node.cpus || memoryMb < node.memoryMb;
    return { ...partition, cpus, memoryMb, accounts, qos, isCapped, sbatch };
  });
}
