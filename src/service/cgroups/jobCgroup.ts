import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../core/errors.ts';
import { readText } from '../../core/processes/procfs.ts';
import type { Controller } from './hierarchies.ts';

const KILL_POLL_MS = 20;
const MAX_KILL_MS = 10_000;

/** A job's group in one hierarchy. */
export interface GroupFolder {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  readonly path: string;
  /** The group of the service and of its runners. */
  readonly outside: string;
  readonly mountPoint: string;
}

/** The control group of a job's processes, which none of them can leave without privileges. */
export interface JobCgroup {
  readonly folders: readonly GroupFolder[];
  readonly maxProcesses: number;
}

export interface LimitHits {
  /** Whether the kernel refused the job a process or thread. */
  readonly processes: boolean;
  /** Whether the kernel ended one of its processes for want of memory. */
  readonly memory: boolean;
}

export function controls(group: JobCgroup | null | undefined, controller: Controller): boolean {
  return folderOf(group, controller) !== undefined;
}

/**
 * Calls a function that starts a process, which is in the group from its first moment. Meanwhile this process is, and returns afterwards.
 *
 * @throws the system's error if this process cannot enter or leave.
 */
export function spawnInCgroup<T>(group: JobCgroup | null | undefined, spawn: () => T): T {
  const entered: GroupFolder[] = [];
  try {
    for (const folder of group?.folders ?? []) {
      enter(folder.path);
      entered.push(folder);
    }
    return spawn();
  } finally {
    for (const { outside } of entered) enter(outside);
  }
}

/** Kills all processes of a group. @returns whether none is left. */
export async function killCgroup(group: JobCgroup): Promise<boolean> {
  const deadline = performance.now() + MAX_KILL_MS;
  const unified = group.folders.find(({ version }) => version === 2);
  const processes = folderOf(group, 'pids');
  // Without room for new ones, each round leaves fewer.
  if (processes !== undefined) writeLimit(processes, 'pids.max', '0');
  try {
    for (;;) {
      const isKilled = unified !== undefined && writeLimit(unified, 'cgroup.kill', '1');
      const members = processesOf(group);
      if (members.length === 0 && numberIn(unified, 'cgroup.events', 'populated') === 0) return true;
      if (performance.now() >= deadline) return false;
      // One by one, an ID could be another process's by now.
      if (!isKilled) for (const pid of members) kill(pid);
      await sleep(KILL_POLL_MS);
    }
  } finally {
    // A job has several programs, one after the other.
    if (processes !== undefined) writeLimit(processes, 'pids.max', String(group.maxProcesses));
  }
}

/** IDs of the processes in a group, except this one. */
export function processesOf({ folders }: JobCgroup): readonly number[] {
  const ids = folders.flatMap(({ path }) =>
    readText(join(path, 'cgroup.procs')).split('\n').filter(Boolean).map(Number),
  );
  // 0 is a process that is just ending, or that this one cannot see. For kill(2) it is the whole group of this process.
  return [...new Set(ids)].filter((pid) => pid > 0 && pid !== process.pid);
}

/** What the kernel has counted since the group was made. */
export function limitHits(group: JobCgroup): LimitHits {
  const memory = folderOf(group, 'memory');
  return {
    processes: numberIn(folderOf(group, 'pids'), 'pids.events', 'max') > 0,
    memory: numberIn(memory, memory?.version === 2 ? 'memory.events' : 'memory.oom_control', 'oom_kill') > 0,
  };
}

/** The most memory that the group has had, in bytes; undefined if the kernel does not count it. */
export function peakMemory(group: JobCgroup): number | undefined {
  const folder = folderOf(group, 'memory');
  if (folder === undefined) return undefined;
  const text = readText(join(folder.path, folder.version === 2 ? 'memory.peak' : 'memory.max_usage_in_bytes'));
  return text === '' ? undefined : Number(text);
}

export interface CgroupUsage {
  /** Of all processes that the group has had. */
  readonly cpuSeconds: number | undefined;
  /** Bytes of processes and of files in memory; not what can be read again from a disk. */
  readonly usedMemory: number | undefined;
}

/** What the kernel has counted; undefined where it does not. */
export function cgroupUsage(group: JobCgroup): CgroupUsage {
  const unified = group.folders.find(({ version }) => version === 2);
  const memory = folderOf(group, 'memory');
  const names = memory?.version === 2 ? ['anon', 'shmem'] : ['total_rss', 'total_shmem'];
  return {
    cpuSeconds: unified && numberIn(unified, 'cpu.stat', 'usage_usec') / 1e6,
    usedMemory: memory && names.reduce((sum, name) => sum + numberIn(memory, 'memory.stat', name), 0),
  };
}

/** Sets one value of a group; what is missing or refused there is not limited. */
export function writeLimit({ path }: Pick<GroupFolder, 'path'>, file: string, value: string): boolean {
  try {
    writeFileSync(join(path, file), value);
    return true;
  } catch {
    return false;
  }
}

function folderOf(group: JobCgroup | null | undefined, controller: Controller): GroupFolder | undefined {
  return group?.folders.find(({ controllers }) => controllers.includes(controller));
}

/** The number in a line like `oom_kill 2`; 0 without one. */
function numberIn(folder: GroupFolder | undefined, file: string, name: string): number {
  if (folder === undefined) return 0;
  const line = readText(join(folder.path, file))
    .split('\n')
    .find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
}

/** Moves this process; 0 stands for it. */
function enter(path: string): void {
  writeFileSync(join(path, 'cgroup.procs'), '0');
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH' && systemCode(error) !== 'EPERM') throw error;
  }
}
