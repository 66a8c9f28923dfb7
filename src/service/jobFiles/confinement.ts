import { existsSync, readFileSync } from 'node:fs';

/** What jobs can see of the machine when they run in bubblewrap. */
export interface Sandbox {
  /** Path of `bwrap`. */
  readonly program: string;
  /** The service's data folder, which is hidden but for the job's own files. */
  readonly data: string;
  /** Hidden too, in favour of a home of the job's own. */
  readonly home: string;
  readonly readOnly: readonly string[];
  readonly writable: readonly string[];
  /** Files and folders of the system that jobs must not read. */
  readonly hidden: readonly string[];
  readonly hasNetwork: boolean;
}

/** What one job may use, all of its processes together. Null is no limit. */
export interface ResourceLimits {
  readonly machineClass: string;
  readonly memoryBytes: number | null;
  /** Processes and threads. */
  readonly maxProcesses: number;
  readonly maxFileBytes: number | null;
}

/** How a job is kept from others: written into its folder before its runner starts, by executors that see to it themselves. */
export interface Confinement {
  readonly sandbox: Sandbox | null;
  readonly limits: ResourceLimits;
  /** The cores that it runs on; null for all. */
  readonly cpus: readonly number[] | null;
}

/** What the file says. Undefined where the executor keeps jobs apart by other means, as a cluster does. */
export function readConfinement(path: string): Confinement | undefined {
  if (!existsSync(path)) return undefined;
  return JSON.parse(readFileSync(path, 'utf8')) as Confinement;
}
