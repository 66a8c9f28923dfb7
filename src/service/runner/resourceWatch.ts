import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceLimits } from '../jobFiles/confinement.ts';
import { filesInMemory, proportionalMemory, readProcesses } from './usage/jobProcesses.ts';

const EVERY_MS = 250;

/**
 * Waits until the processes of a job together exceed a limit, and returns a sentence that says so; undefined once the signal
 * aborts.
 *
 * The system's own limits apply to single processes, and count reserved rather than used memory: Node.js alone reserves a
 * gigabyte. So this checks a few times a second, like clusters without control groups. It sees the descendants of the job's
 * first process on Linux, and nothing on other systems.
 */
export async function untilOverLimit(
  root: number,
  { machineClass, memoryBytes, maxProcesses }: ResourceLimits,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  while (!signal.aborted) {
    const { ids, threads, memory } = readProcesses(root, maxProcesses);
    if (threads >= maxProcesses) {
      return `The job was stopped because it had ${threads} or more processes and threads; the limit is ${maxProcesses}.`;
    }
    const files = filesInMemory(ids[1]);
    if (memoryBytes !== null && memory + files > memoryBytes) {
      const used = proportionalMemory(ids, files);
      if (used > memoryBytes) {
        return `The job was stopped because it used ${gigabytes(used)} of memory; the machine class ${machineClass} has ${gigabytes(memoryBytes)}. Make it use less, or choose a larger machine class.`;
      }
    }
    await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
  return undefined;
}

/** In the unit of `memory_gb`. */
function gigabytes(bytes: number): string {
  return `${Number((bytes / 2 ** 30).toFixed(2))} GB`;
}
