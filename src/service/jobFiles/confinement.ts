import { parseOwnJson } from '../../core/jsonFields.ts';
import { existsSync, readFileSync } from 'node:fs';
import type { JobCgroup } from '../cgroups/jobCgroup.ts';

/** What jobs can see of the machine when they run in bubblewrap. */
export interface Sandbox {
  /** Path of `bwrap`. */
  readonly program: string;
  /** The service's data folder, which is hidden except for the job's own files. */
  readonly data: string;
  /** Replaced by the job's own home. */
  readonly home: string;
  readonly readOnly: readonly string[];
  readonly writable: readonly string[];
  /** Files and folders of the system that jobs must not read. */
  readonly hidden: readonly string[];
  readonly hasNetwork: boolean;
  /** The accelerators in /dev that it has; all of the machine if absent. */
  readonly accelerators?: readonly string[];
}

/** The limits for all processes of a job together. Null means no limit. */
export interface ResourceLimits {
  readonly machineClass: string;
  readonly memoryBytes: number | null;
  /** Processes and threads. */
  readonly maxProcesses: number;
  readonly maxFileBytes: number | null;
}

/** How a job is separated from others. Executors that isolate jobs themselves write it to the job's folder before its runner starts. */
export interface Confinement {
  readonly sandbox: Sandbox | null;
  readonly limits: ResourceLimits;
  /** The cores that it runs on; null for all. */
  readonly cpus: readonly number[] | null;
  /** By how much its processes yield to others (nice(1)). */
  readonly nice: number;
  /** Null where the service may make no control groups. */
  readonly cgroup: JobCgroup | null;
  /** The GPUs that are reserved for it, and the variables by which its programs find only those; absent if it sees all of the machine. */
  readonly gpus?: { readonly ids: readonly string[]; readonly variables: Readonly<Record<string, string>> };
}

/** Undefined if the executor separates jobs by other means, as a cluster does. */
export function readConfinement(path: string): Confinement | undefined {
  if (!existsSync(path)) return undefined;
  return parseOwnJson<Confinement>(readFileSync(path, 'utf8'));
}
