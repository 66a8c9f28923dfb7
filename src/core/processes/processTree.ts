import { execFileSync } from 'node:child_process';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../errors.ts';
import { lockLimitOf } from './lockLimit.ts';
import { environmentOf, namespaceOf, processIds, readStat, readText, runningProcesses } from './procfs.ts';

const POLL_MS = 25;
const KILL_WAIT_MS = 10_000;
const FAST_ROUNDS = 5;
// Starting a program can take 100 ms on a busy machine. A process without an environment after this many checks, 2 s or more, is hiding it.
const EXEC_CHECKS = 200;
const EXEC_POLL_MS = 10;

/**
 * Distinguishes a process from a later one with the same ID, by the boot and the start time (proc(5)).
 *
 * @param platform for tests; this system by default.
 * @returns undefined if no such process is running; a zombie is not running, unless only its first thread has ended.
 */
export function processIdentity(pid: number, platform: string = process.platform): string | undefined {
  if (platform === 'linux') {
    const stat = readStat(pid);
    return stat && `${bootIdentity()}:${stat.startTime}`;
  }
  if (!isAlive(pid)) return undefined;
  if (platform === 'win32') return 'unknown';
  try {
    // The time is text, which is only the same for everyone in a fixed language and time zone.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Distinguishes boots of this machine. If the system has no ID for them, it is the boot time, to two minutes. Since clocks are adjusted,
 * the same boot may then appear as another.
 *
 * @param platform for tests; this system by default.
 */
export function bootIdentity(platform: string = process.platform): string {
  if (platform === 'linux') return readText('/proc/sys/kernel/random/boot_id').trim();
  return `since ${Math.round((Date.now() / 1000 - uptime()) / 120)}`;
}

/** Milliseconds of a clock that nobody sets, the same for all processes of a boot (CLOCK_MONOTONIC on Linux). */
export function steadyMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** A process, as long as it runs. */
export interface ProcessReference {
  readonly pid: number;
  /** The result of `processIdentity`. */
  readonly identity: string;
}

/**
 * Processes that belong together: those in a process group, those with a variable in their environment, and those with a limit that they
 * cannot raise. In a sandbox, they are the processes in the namespace of its first process, whose end ends all others. Unlike its
 * environment, a process cannot change its namespace; and a search by environment also reads the environments of all other jobs.
 */
export type ProcessTree =
  | {
      /** The ID of the group's first process. */
      readonly group: number | undefined;
      /** `NAME=value`, which children inherit. */
      readonly mark: string;
      /** The result of `lockLimitOf`. */
      readonly lockLimit?: number | undefined;
    }
  | { readonly init: ProcessReference | undefined };

/**
 * Stops every process of a tree: SIGTERM, then SIGKILL after `graceMs`.
 *
 * On Linux this includes processes that left the group, by their mark and their limit.
 *
 * @param platform for tests; this system by default.
 * @returns whether there were any.
 */
export async function endProcesses(
  tree: ProcessTree,
  graceMs: number,
  platform: string = process.platform,
): Promise<boolean> {
  if (platform === 'win32') return 'group' in tree && tree.group !== undefined && endTree(tree.group);
  const find = finderOf(tree, platform);
  if (sendSignal(await find(), 'SIGTERM') === 0) return false;
  if (await areGone(find, graceMs)) return true;
  const deadline = performance.now() + KILL_WAIT_MS;
  // Repeated, because a process can fork while its siblings are killed. The first rounds follow at once, to be faster than they are.
  for (let round = 1; sendSignal(await find(), 'SIGKILL') > 0 && performance.now() < deadline; round += 1) {
    await sleep(round < FAST_ROUNDS ? 0 : POLL_MS);
  }
  return true;
}

/** Sends SIGTERM to the processes beside the first one of a sandbox, and waits until they have stopped, or for `graceMs`. */
export async function askToEnd(init: ProcessReference, graceMs: number): Promise<void> {
  const find = finderOf({ init }, process.platform);
  if (sendSignal(await find(), 'SIGTERM') > 0) await areGone(find, graceMs);
}

/** Waits until a process has stopped, or for `withinMs`. */
export async function untilStopped({ pid, identity }: ProcessReference, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (processIdentity(pid) === identity && performance.now() < deadline) await sleep(POLL_MS);
}

/** Kills a process, unless it has stopped. */
export function killProcess({ pid, identity }: ProcessReference): void {
  if (processIdentity(pid) === identity) sendSignal([pid], 'SIGKILL');
}

/** Returns the IDs to signal: single processes on Linux, the whole group (a negative id) elsewhere. */
type Find = () => Promise<readonly number[]>;

async function areGone(find: Find, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const started = performance.now();
    if ((await find()).length === 0) return true;
    const now = performance.now();
    if (now >= deadline) return false;
    // Thousands of processes take a while to find.
    await sleep(Math.min(Math.max(POLL_MS, now - started), deadline - now));
  }
}

function finderOf(tree: ProcessTree, platform: string): Find {
  if ('init' in tree) return async () => processesBeside(tree.init);
  const { group } = tree;
  if (platform !== 'linux') return async () => (group !== undefined && isAlive(-group) ? [-group] : []);
  // A process that had the mark once belongs to the tree. A process that never shows an environment is waited for only once.
  const history = { own: new Set<string>(), bare: new Set<string>() };
  return () => findProcesses(tree, history);
}

/**
 * The processes of a group, with a mark or with a limit. While a process starts another program, it has no environment. So if nothing else
 * is found, this waits until each process without one that is younger than this process has one. Processes that lose theirs only later are waited for only
 * if one of the others has stopped, because it may have started them.
 */
async function findProcesses(
  { group, mark, lockLimit }: Extract<ProcessTree, { group: unknown }>,
  { own, bare }: { readonly own: Set<string>; readonly bare: Set<string> },
): Promise<readonly number[]> {
  const ownStart = Number(readStat(process.pid)?.startTime);
  let waiting: ReadonlyMap<string, number> | undefined;
  for (let look = 1; look <= EXEC_CHECKS; look += 1) {
    const processes = runningProcesses();
    const found: number[] = [];
    const undecided: string[] = [];
    for (const [id, { pid, startTime, ...stat }] of processes) {
      if (stat.isKernelThread) continue;
      const isKnown =
        own.has(id) || stat.group === group || (lockLimit !== undefined && lockLimitOf(pid) === lockLimit);
      const environment = isKnown ? mark : environmentOf(pid);
      if (environment?.split('\0').includes(mark)) {
        own.add(id);
        found.push(pid);
      } else if (environment === '' && !stat.hasNoVariables && Number(startTime) >= ownStart && !bare.has(id)) {
        undecided.push(id);
      }
    }
    if (found.length > 0) return found;
    const before = waiting;
    const isAnyGone = before?.keys().some((id) => !processes.has(id)) ?? true;
    waiting = new Map(
      undecided.filter((id) => isAnyGone || before?.has(id)).map((id) => [id, (before?.get(id) ?? 0) + 1] as const),
    );
    if (waiting.size === 0) break;
    await sleep(EXEC_POLL_MS);
  }
  for (const [id, looks] of waiting ?? []) if (looks === EXEC_CHECKS) bare.add(id);
  return [];
}

/** IDs of the processes in a sandbox except its first one, which must still be running, because the kernel reuses namespace numbers. */
function processesBeside(init: ProcessReference | undefined): readonly number[] {
  if (init === undefined || processIdentity(init.pid) !== init.identity) return [];
  const namespace = namespaceOf(init.pid);
  if (namespace === undefined || namespace === namespaceOf(process.pid)) return [];
  return processIds().filter(
    (pid) => pid !== init.pid && namespaceOf(pid) === namespace && readStat(pid) !== undefined,
  );
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

function endTree(pid: number): boolean {
  try {
    execFileSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // it has already stopped
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
