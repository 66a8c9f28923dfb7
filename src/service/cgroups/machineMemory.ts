import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { readText } from '../../core/processes/procfs.ts';
import { type MemoryGroup, memoryGroups } from './hierarchies.ts';

const FILES = {
  1: { limit: 'memory.limit_in_bytes', used: 'memory.usage_in_bytes', cache: 'total_inactive_file' },
  2: { limit: 'memory.max', used: 'memory.current', cache: 'inactive_file' },
} as const;

/** How much memory programs can have where this process runs, in bytes. */
export interface MachineMemory {
  readonly total: number;
  /** What no program uses at the moment; all of it on systems that do not say. */
  readonly unused: number;
}

/**
 * The memory of the machine, or less in a container or a unit of systemd that has a limit: the kernel would kill what uses more.
 *
 * @param groups those that this process is in.
 */
export function machineMemory(groups: readonly MemoryGroup[] = memoryGroups()): MachineMemory {
  // Other systems than Linux do not count what can be reclaimed as free.
  const machine = { total: totalmem(), unused: process.platform === 'linux' ? freemem() : Number.POSITIVE_INFINITY };
  return groups.reduce((least, group) => {
    const limited = limitedBy(group);
    return limited === undefined
      ? least
      : { total: Math.min(least.total, limited.total), unused: Math.min(least.unused, limited.unused) };
  }, machine);
}

/** @returns undefined for a group without a limit. */
function limitedBy({ path, version }: MemoryGroup): MachineMemory | undefined {
  const files = FILES[version];
  // "max" in version 2.
  const total = Number.parseInt(readText(join(path, files.limit)), 10);
  if (Number.isNaN(total)) return undefined;
  const cache = new RegExp(`^${files.cache} (\\d+)$`, 'm').exec(readText(join(path, 'memory.stat')))?.[1];
  // The kernel takes back the pages of files that have not been read again.
  const used = Number.parseInt(readText(join(path, files.used)), 10) - Number(cache ?? 0);
  return { total, unused: Math.max(0, total - (used || 0)) };
}
