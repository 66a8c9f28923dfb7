import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../errors.ts';

const POLL_MS = 25;
const KILL_WAIT_MS = 2_000;
// How long a process may take to start another program, on a busy machine too. Those that have no environment at all are few.
const EXEC_WAIT_MS = 1_000;
const EXEC_POLL_MS = 2;
// PF_KTHREAD in linux/sched.h: a thread of the kernel, which has no environment.
const KERNEL_THREAD = 0x0020_0000;
// A process says itself how long its environment is (prctl(2), PR_SET_MM_MAP), and gigabytes cost it nothing. This is above what
// the service lets a job have.
const MAX_ENVIRONMENT_BYTES = 1024 * 1024;

/**
 * What tells a process apart from a later one with the same id: the boot and the start time (proc(5)).
 *
 * @returns undefined when no such process runs; a process that has ended and was not collected does not run.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readStat(pid);
    return stat && `${bootIdentity()}:${stat.startTime}`;
  }
  if (!isAlive(pid)) return undefined;
  if (process.platform === 'win32') return 'unknown';
  try {
    // The time is text: the same for everyone only in a fixed language and time zone.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * What tells one boot of this machine from another. Where the system does not say, it is when it began, to two minutes: clocks
 * are set right now and then, so the same boot may seem to be another.
 */
export function bootIdentity(): string {
  if (process.platform === 'linux') return readText('/proc/sys/kernel/random/boot_id').trim();
  return `since ${Math.round((Date.now() / 1000 - uptime()) / 120)}`;
}

/** One process, as long as it runs. */
export interface ProcessReference {
  readonly pid: number;
  /** Of `processIdentity`. */
  readonly identity: string;
}

/**
 * The processes that belong together: those of a process group, and those that carry a variable in their environment. In a sandbox
 * they are those that share the process ids of its first process, which ends all others with it. That is asked of the kernel, while an
 * environment is whatever its process makes of it: looking for a mark reads those of all other jobs too.
 */
export type ProcessTree =
  | {
      /** The id of the group's first process. */
      readonly group: number | undefined;
      /** `NAME=value`, which children inherit. */
      readonly mark: string;
    }
  | { readonly init: ProcessReference | undefined };

/**
 * Ends every process of a tree: SIGTERM, then SIGKILL after `graceMs`.
 *
 * On Linux this reaches processes that left the group as well, by their mark.
 */
export async function endProcesses(tree: ProcessTree, graceMs: number): Promise<void> {
  if (process.platform === 'win32') {
    if ('group' in tree && tree.group !== undefined) endTree(tree.group);
    return;
  }
  const find = finderOf(tree);
  if (sendSignal(await find(), 'SIGTERM') === 0) return;
  if (await areGone(find, graceMs)) return;
  const deadline = performance.now() + KILL_WAIT_MS;
  // Again and again, as a process can fork while its siblings are killed.
  while (sendSignal(await find(), 'SIGKILL') > 0 && performance.now() < deadline) await sleep(POLL_MS);
}

/** Returns the ids to signal: single processes on Linux, the whole group (a negative id) elsewhere. */
type Find = () => Promise<readonly number[]>;

async function areGone(find: Find, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if ((await find()).length === 0) return true;
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}

function finderOf(tree: ProcessTree): Find {
  if ('init' in tree) return async () => processesBeside(tree.init);
  const { group, mark } = tree;
  if (process.platform !== 'linux') return async () => (group !== undefined && isAlive(-group) ? [-group] : []);
  const bare = new Set<number>();
  return async () => {
    for (const deadline = performance.now() + EXEC_WAIT_MS; ; await sleep(EXEC_POLL_MS)) {
      const { found, undecided } = processesOf(group, mark);
      const waited = undecided.filter((pid) => !bare.has(pid));
      if (waited.length === 0) return found;
      if (performance.now() < deadline) continue;
      for (const pid of waited) bare.add(pid);
      return found;
    }
  };
}

/**
 * The processes of a group or with a mark. While a process starts another program, its environment is empty: those that may do so
 * are `undecided`, if they are younger than this process.
 */
function processesOf(group: number | undefined, mark: string): { found: number[]; undecided: number[] } {
  const [found, undecided]: [number[], number[]] = [[], []];
  const ownStart = Number(readStat(process.pid)?.startTime);
  for (const pid of processIds()) {
    const stat = readStat(pid);
    if (stat === undefined) continue;
    const environment = stat.group === group ? '' : environmentOf(pid);
    if (stat.group === group || environment?.split('\0').includes(mark)) found.push(pid);
    else if (environment === '' && !stat.isKernelThread && Number(stat.startTime) >= ownStart) undecided.push(pid);
  }
  return { found, undecided };
}

/** Ids of the processes in a sandbox but its first one. The kernel gives a namespace's number again, so the first one must still run. */
function processesBeside(init: ProcessReference | undefined): readonly number[] {
  if (init === undefined || processIdentity(init.pid) !== init.identity) return [];
  const namespace = namespaceOf(init.pid);
  if (namespace === undefined || namespace === namespaceOf(process.pid)) return [];
  return processIds().filter(
    (pid) => pid !== init.pid && namespaceOf(pid) === namespace && readStat(pid) !== undefined,
  );
}

function processIds(): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined; // it has ended, or is another user's
  }
}

/** The beginning of a process's environment, as far as any that the service starts can go; undefined for another user's process. */
function environmentOf(pid: number): string | undefined {
  try {
    const file = openSync(`/proc/${pid}/environ`, 'r');
    try {
      const buffer = Buffer.allocUnsafe(MAX_ENVIRONMENT_BYTES);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(file, buffer, length, Math.min(64 * 1024, buffer.length - length), null);
      }
      return buffer.toString('utf8', 0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function sendSignal(pids: readonly number[], signal: NodeJS.Signals): number {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (systemCode(error) !== 'ESRCH' && systemCode(error) !== 'EPERM') throw error;
    }
  }
  return pids.length;
}

function endTree(pid: number): void {
  try {
    execFileSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
  } catch {
    // It has ended already.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

function readStat(pid: number): { group: number; startTime: string; isKernelThread: boolean } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything; fields are counted after it (state is the third field, group the fifth, flags the ninth).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = 'X', , group = ''] = fields;
  const startTime = fields[19];
  if (startTime === undefined || state === 'Z' || state === 'X') return undefined;
  return { group: Number(group), startTime, isKernelThread: (Number(fields[6]) & KERNEL_THREAD) !== 0 };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
