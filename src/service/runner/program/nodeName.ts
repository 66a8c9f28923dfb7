import { hostname } from 'node:os';

/** The name of the machine that runs the job, as its cluster knows it. */
export function nodeName(): string {
  return process.env['SLURMD_NODENAME'] ?? hostname();
}
