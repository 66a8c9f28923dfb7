import { readdirSync } from 'node:fs';
import { systemCode } from '../../core/errors.ts';

// One folder for each GPU, in which NVIDIA's driver for Linux describes it. Reading it starts no process, as nvidia-smi would be.
const NVIDIA_GPUS = '/proc/driver/nvidia/gpus';

/** How many NVIDIA GPUs this machine has; 0 where their driver for Linux is missing. */
export function countGpus(folder: string = NVIDIA_GPUS): number {
  try {
    return readdirSync(folder).length;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return 0;
  }
}
