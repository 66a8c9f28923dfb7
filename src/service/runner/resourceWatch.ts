import { setTimeout as sleep } from 'node:timers/promises';
import { formatCount } from '../../core/text/format.ts';
import { controls, limitHits, peakMemory } from '../cgroups/jobCgroup.ts';
import type { Confinement, ResourceLimits } from '../jobFiles/confinement.ts';
import { countInside, filesInMemory, proportionalMemory, readProcesses } from './usage/jobProcesses.ts';

const EVERY_MS = 250;
// Reading thousands of processes takes a while, and this process has more to do.
const MAX_COST_SHARE = 1 / 4;

type Watched = Pick<Confinement, 'limits' | 'cgroup'>;

/**
 * Waits until the processes of a job together exceed a limit, and returns a sentence that says so; undefined once the signal
 * aborts.
 *
 * In a control group the kernel enforces the limits and counts what exceeded them. Elsewhere its own limits apply to single processes,
 * and count reserved rather than used memory: Node.js alone reserves a gigabyte. So this checks a few times a second, like clusters
 * without control groups. It sees the processes in a sandbox, or else the descendants of the job's first process, on Linux, and
 * nothing on other systems.
 *
 * @param roots returns the job's first process, and others whose descendants count as the job's.
 */
export async function untilOverLimit(
  roots: () => readonly number[],
  watched: Watched,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const { limits, cgroup } = watched;
  const isCounted = controls(cgroup, 'pids') && (limits.memoryBytes === null || controls(cgroup, 'memory'));
  while (!signal.aborted) {
    const started = performance.now();
    const verdict = kernelsVerdict(watched) ?? (isCounted ? undefined : ownVerdict(roots(), limits));
    if (verdict !== undefined) return verdict;
    const pauseMs = Math.max(EVERY_MS, (performance.now() - started) / MAX_COST_SHARE);
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
  }
  return undefined;
}

/** Which limit the kernel has enforced, as a sentence; undefined if none. */
export function kernelsVerdict({ limits, cgroup }: Watched): string | undefined {
  if (cgroup === null) return undefined;
  const hits = limitHits(cgroup);
  if (hits.processes) return tooManyProcesses(limits);
  if (hits.memory) return tooMuchMemory(limits, peakMemory(cgroup) ?? 0);
  return undefined;
}

function ownVerdict(roots: readonly number[], limits: ResourceLimits): string | undefined {
  const { memoryBytes, maxProcesses } = limits;
  const { ids, threads, memory } = readProcesses(roots, maxProcesses);
  // The kernel refuses a sandbox more than its limit, so a job that tries is seen at the limit.
  if (threads >= maxProcesses || countInside(ids[1]) >= maxProcesses) return tooManyProcesses(limits);
  const files = filesInMemory(ids[1]);
  if (memoryBytes === null || memory + files <= memoryBytes) return undefined;
  const used = proportionalMemory(ids, files);
  return used > memoryBytes ? tooMuchMemory(limits, used) : undefined;
}

function tooManyProcesses({ maxProcesses }: ResourceLimits): string {
  return `The job was stopped because it tried to run more than ${formatCount(maxProcesses, 'process or thread', 'processes and threads')}.`;
}

function tooMuchMemory({ machineClass, memoryBytes }: ResourceLimits, peak: number): string {
  return `The job was stopped because it needed more than ${gigabytes(memoryBytes ?? 0)} of memory (peak ${gigabytes(peak)}), the limit of the machine class ${machineClass}. Make it use less, or choose a larger machine class.`;
}

/** In the unit of `memory_gb`. */
function gigabytes(bytes: number): string {
  return `${Number((bytes / 2 ** 30).toFixed(2))} GB`;
}
