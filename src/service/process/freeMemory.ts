import { freemem, totalmem } from 'node:os';
import type { MachineClass } from '../config/machineClasses.ts';

const GIB = 2 ** 30;

/**
 * Why a job has to wait for memory; undefined if it can start. Next to other jobs it needs the memory of its class, unless that is
 * about the whole machine. Alone it starts with less, because waiting would not help. In any case, the minimum stays free.
 *
 * @param running how many other jobs run.
 */
export function memoryShortage(
  machineClass: Pick<MachineClass, 'memory_gb'> | undefined,
  { minFreeGb, running }: { readonly minFreeGb: number; readonly running: number },
): string | undefined {
  // Other systems do not count reclaimable memory as free.
  if (process.platform !== 'linux') return undefined;
  const free = freemem() / GIB;
  const own = machineClass?.memory_gb ?? 0;
  const needed = running > 0 && own + minFreeGb <= totalmem() / GIB ? own : 0;
  if (free >= needed + minFreeGb) return undefined;
  const forJob = needed === 0 ? '' : `${needed.toFixed(1)} GB for this job and `;
  return `The job waits for memory: the machine has ${free.toFixed(1)} GB available, and needs ${forJob}${minFreeGb.toFixed(1)} GB that stay free ([process] min_free_memory_gb).`;
}
