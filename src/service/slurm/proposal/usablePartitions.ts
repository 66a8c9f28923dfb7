import type { Partition } from './partitions.ts';
import { type NodeSize, type PartitionRules, permitted } from './partitionRules.ts';

const MAX_LEVELS = 100;

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

/** The accounts above each account, in an answer of sacctmgr with lines like `optics|physics`. Those of users have no parent. */
export function readParents(output: string): ReadonlyMap<string, string> {
  const rows = output.split('\n').map((line) => line.trim().toLowerCase().split('|'));
  return new Map(rows.flatMap(([account = '', parent = '']) => (parent === '' ? [] : [[account, parent] as const])));
}

/** Whether the accounts above those of the user decide about a partition. */
export function needsParents(rules: ReadonlyMap<string, PartitionRules>, { accounts }: Associations): boolean {
  return [...rules.values()].some(
    ({ accounts: rule }) => rule.allowed !== undefined && permitted(accounts, rule).length < accounts.length,
  );
}

/** What is known of a cluster's partitions besides the list. */
interface Known {
  readonly rules: ReadonlyMap<string, PartitionRules>;
  readonly sizes: ReadonlyMap<string, NodeSize>;
  readonly parents: ReadonlyMap<string, string>;
}

/** The partitions that accept jobs of the user with these associations. Groups need no check: sinfo lists no partition of another group. */
export function usablePartitions(
  partitions: readonly Partition[],
  { rules, sizes, parents }: Known,
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
    // Later versions of Slurm also permit the accounts below a permitted one (slurm.conf(5)). Earlier versions report why such a job does
    // not start.
    const accounts = permitted(own.accounts, rule.accounts, (name) => ancestors(name, parents));
    const qos = permitted(own.qos, rule.qos);
    // A user without associations is in none of the accounts. Without accounting, jobs have no quality of service, and it is not checked.
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

function ancestors(account: string, parents: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = [];
  for (let parent = parents.get(account.toLowerCase()); parent !== undefined && found.length < MAX_LEVELS; ) {
    found.push(parent);
    parent = parents.get(parent);
  }
  return found;
}
