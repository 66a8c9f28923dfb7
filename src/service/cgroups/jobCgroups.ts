import { hash } from 'node:crypto';
import { type Dirent, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { readText } from '../../core/processes/procfs.ts';
import { type Controller, findHierarchies, type Hierarchy } from './hierarchies.ts';
import { type GroupFolder, type JobCgroup, killCgroup, writeLimit } from './jobCgroup.ts';

// The weight of a process with niceness 0 in version 1, and of a group in version 2. A step of niceness changes it by a quarter
// (sched(7)).
const SHARES = 1024;
const WEIGHT = 100;
const NICE_STEP = 1.25;

interface Member {
  readonly id: string;
  readonly account: string;
}

export interface GroupLimits {
  readonly maxProcesses: number;
  readonly memoryBytes: number | null;
  readonly cpus: readonly number[] | null;
}

/** The control groups of a service's jobs: one for the service, in it one for each account, in that one for each job. */
export class JobCgroups {
  readonly #hierarchies: readonly Hierarchy[];
  readonly #name: string;

  private constructor(hierarchies: readonly Hierarchy[], name: string) {
    this.#hierarchies = hierarchies;
    this.#name = name;
  }

  /**
   * Makes the group of the service.
   *
   * @param data the service's data folder, which distinguishes services on one machine.
   * @param nice by how much all jobs together yield to the service.
   * @returns undefined where this process may make no groups.
   */
  static open(data: string, nice: number): JobCgroups | undefined {
    const name = `farwharf-${hash('sha256', data).slice(0, 12)}`;
    const usable = findHierarchies().flatMap((found) => {
      const hierarchy = found.version === 2 ? withDelegated(found) : found;
      return makeGroup(hierarchy, join(hierarchy.base, name)) ? [hierarchy] : [];
    });
    if (usable.length === 0) return undefined;
    const yielding = NICE_STEP ** -nice;
    for (const { base, version } of usable) {
      const path = join(base, name);
      if (version === 2) writeLimit({ path }, 'cpu.weight', String(Math.max(1, Math.round(WEIGHT * yielding))));
      else writeLimit({ path }, 'cpu.shares', String(Math.round(SHARES * availableParallelism() * yielding)));
    }
    return new JobCgroups(usable, name);
  }

  /** What the kernel limits, for people. */
  describe(): string {
    const has = (controller: Controller): boolean =>
      this.#hierarchies.some(({ controllers }) => controllers.includes(controller));
    const parts = [
      has('memory') && 'memory',
      has('pids') && 'processes',
      has('cpu') && 'equal shares of the processor for accounts',
      has('cpuset') && 'cores',
      this.#hierarchies.some(({ version }) => version === 2) && 'the end of all processes at once',
    ].filter((part) => part !== false);
    const versions = [...new Set(this.#hierarchies.map(({ version }) => version))].toSorted((a, b) => a - b);
    return `the kernel enforces for each job, in control groups (version ${versions.join(' and ')}): ${parts.join(', ')}`;
  }

  /**
   * Makes the group of a job, with its limits. It may exist already, and a runner that an earlier service started be about to enter it.
   *
   * @throws the system's error.
   */
  create(job: Member, { maxProcesses, memoryBytes, cpus }: GroupLimits): JobCgroup {
    const group = this.find(job, maxProcesses);
    for (const [index, hierarchy] of this.#hierarchies.entries()) {
      const service = join(hierarchy.base, this.#name);
      // In each level, as a group has only what the one above it gives it.
      for (const path of [service, join(service, accountName(job))]) makeGroup(hierarchy, path);
      const folder = group.folders[index];
      if (folder !== undefined) mkdirSync(folder.path, { recursive: true });
    }
    for (const folder of group.folders) {
      const { controllers, version } = folder;
      if (controllers.includes('pids')) writeLimit(folder, 'pids.max', String(maxProcesses));
      if (controllers.includes('memory') && memoryBytes !== null) limitMemory(folder, memoryBytes);
      if (controllers.includes('cpuset')) {
        if (version === 1) inheritCores(folder.path, join(folder.path, '..'));
        if (cpus !== null) writeLimit(folder, 'cpuset.cpus', cpus.join(','));
      }
    }
    return group;
  }

  /** The group of a job, whether it exists or not. */
  find(job: Member, maxProcesses: number): JobCgroup {
    const folders = this.#hierarchies.map(
      ({ version, controllers, base, own, mountPoint }): GroupFolder => ({
        version,
        controllers,
        path: join(base, this.#name, accountName(job), job.id),
        outside: own,
        mountPoint,
      }),
    );
    return { folders, maxProcesses };
  }

  /** Removes the group of a job that has no processes, and that of its account if it was the last one. */
  remove(job: Member): void {
    for (const { base } of this.#hierarchies) {
      const account = join(base, this.#name, accountName(job));
      removeEmpty(join(account, job.id));
      removeEmpty(account);
    }
  }

  /** Kills what is left in groups of jobs that are over, as after a crash, and removes these. @param isOver by a job's ID. */
  async sweep(isOver: (jobId: string) => boolean): Promise<void> {
    for (const { base, version, controllers, own, mountPoint } of this.#hierarchies) {
      for (const account of foldersIn(join(base, this.#name))) {
        for (const path of foldersIn(account.path)
          .filter(({ name }) => isOver(name))
          .map((job) => job.path)) {
          await killCgroup({ folders: [{ version, controllers, path, outside: own, mountPoint }], maxProcesses: 0 });
          removeEmpty(path);
        }
        removeEmpty(account.path);
      }
    }
  }

  /** Removes the group of the service, unless jobs are in it. */
  close(): void {
    for (const { base } of this.#hierarchies) removeEmpty(join(base, this.#name));
  }
}

/** Turns on what the base has for its children, and leaves out what it cannot. */
function withDelegated(hierarchy: Hierarchy): Hierarchy {
  const controllers = hierarchy.controllers.filter((each) =>
    writeLimit({ path: hierarchy.base }, 'cgroup.subtree_control', `+${each}`),
  );
  return { ...hierarchy, controllers };
}

/** Makes a group that has others in it. */
function makeGroup({ version, controllers }: Hierarchy, path: string): boolean {
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    return false;
  }
  if (version === 2) for (const each of controllers) writeLimit({ path }, 'cgroup.subtree_control', `+${each}`);
  else if (controllers.includes('cpuset')) inheritCores(path, join(path, '..'));
  return true;
}

/** In version 1, a new group has no cores and takes no processes until it is given some. */
function inheritCores(path: string, parent: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) writeLimit({ path }, file, readText(join(parent, file)).trim());
}

/** Swapping would only let a job have more than its class. */
function limitMemory(folder: GroupFolder, bytes: number): void {
  if (folder.version === 2) {
    writeLimit(folder, 'memory.max', String(bytes));
    writeLimit(folder, 'memory.swap.max', '0');
    writeLimit(folder, 'memory.oom.group', '1');
  } else {
    // The first may never be above the second, so a group that has limits already takes a higher one only in the other order.
    for (const file of ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes', 'memory.limit_in_bytes']) {
      writeLimit(folder, file, String(bytes));
    }
  }
}

/** An account's name can be anything; its group's cannot. */
function accountName({ account }: Member): string {
  return hash('sha256', account).slice(0, 16);
}

function foldersIn(path: string): readonly { readonly name: string; readonly path: string }[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry: Dirent) => entry.isDirectory())
      .map(({ name }) => ({ name, path: join(path, name) }));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Leaves a group that has processes or groups. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!['ENOENT', 'EBUSY', 'ENOTEMPTY'].includes(systemCode(error) ?? '')) throw error;
  }
}
