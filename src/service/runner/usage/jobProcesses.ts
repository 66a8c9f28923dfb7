// Reads what the processes of a job use from Linux's /proc: proc(5).
import { readdirSync, statfsSync, statSync } from 'node:fs';
import { lockLimitOf, newLockLimit } from '../../../core/processes/lockLimit.ts';
import { environmentOf, processIds, readText } from '../../../core/processes/procfs.ts';

// statfs(2)
const TMPFS = 0x01021994;
// Times in /proc/<pid>/stat are in this unit on every Linux (USER_HZ).
const TICKS_PER_SECOND = 100;

/** The first process of a job and its descendants. */
export interface JobProcesses {
  readonly ids: readonly number[];
  readonly threads: number;
  /** Bytes; memory that processes share counts for each of them. */
  readonly memory: number;
  /** Bytes of the largest process. */
  readonly largest: number;
}

/**
 * Stops at the limit, because processes that never stop forking outrun anyone who counts them all.
 *
 * @param roots the job's first process, and others whose descendants count as the job's.
 */
export function readProcesses(roots: readonly number[], maxProcesses: number): JobProcesses {
  const ids: number[] = [];
  let [threads, memory, largest] = [0, 0, 0];
  const waiting = roots.toReversed();
  for (let pid = waiting.pop(); pid !== undefined && threads < maxProcesses; pid = waiting.pop()) {
    const status = fieldsOf(`/proc/${pid}/status`);
    const own = kilobytes(status, 'RssAnon', 'RssShmem');
    ids.push(pid);
    threads += status.get('Threads') ?? 0;
    memory += own;
    largest = Math.max(largest, own);
    waiting.push(...childrenOf(pid));
  }
  return { ids, threads, memory, largest };
}

/**
 * IDs of the processes of a job without a sandbox: first those below its first one, then others with its mark, which take longer to find.
 *
 * @param mark `NAME=value`, which stands for the limit that the job's processes have; without one, it is in their environment.
 */
export function* markedProcesses(root: number | undefined, mark: string): Generator<number, void> {
  const below = new Set(root === undefined ? [] : readProcesses([root], Infinity).ids);
  yield* below;
  const limit = newLockLimit(mark);
  for (const pid of processIds()) {
    if (below.has(pid)) continue;
    const isOwn = limit === undefined ? environmentOf(pid)?.split('\0').includes(mark) : lockLimitOf(pid) === limit;
    if (isOwn) yield pid;
  }
}

/**
 * Bytes that processes use. Shared memory counts once; mapped files on a disk do not count, because they can be read again.
 * Takes time in proportion to the memory.
 *
 * @param files bytes of files in memory. Mapped parts of them count as shared memory too, so the larger of both is used.
 */
export function proportionalMemory(ids: readonly number[], files: number): number {
  let own = 0;
  let shared = 0;
  for (const pid of ids) {
    const fields = fieldsOf(`/proc/${pid}/smaps_rollup`);
    own += kilobytes(fields, 'Pss_Anon');
    shared += kilobytes(fields, 'Pss_Shmem');
  }
  return own + Math.max(shared, files);
}

/**
 * Bytes of the files in a sandbox's own /dev and /dev/shm, which are in memory; 0 without a sandbox, where all processes share them.
 *
 * @param pid the first process inside, whose root no job can change.
 */
export function filesInMemory(pid: number | undefined): number {
  try {
    const path = `/proc/${pid}/root/dev`;
    if (statSync(path).dev === statSync('/dev').dev) return 0;
    const { type, blocks, bfree, bsize } = statfsSync(path);
    return type === TMPFS ? (blocks - bfree) * bsize : 0;
  } catch {
    return 0; // it has ended
  }
}

/**
 * How many processes a sandbox has, in one look: its own /proc lists them. 0 without a sandbox.
 *
 * @param pid the first process inside, whose root no job can change.
 */
export function countInside(pid: number | undefined): number {
  try {
    const path = `/proc/${pid}/root/proc`;
    if (statSync(path).dev === statSync('/proc').dev) return 0;
    return readdirSync(path).filter((name) => /^\d+$/.test(name)).length;
  } catch {
    return 0; // it has ended
  }
}

/** How many threads the processes of a user have. */
export function countThreads(uid: number): number {
  return processIds()
    .filter((pid) => isOwnedBy(uid, `/proc/${pid}`))
    .reduce((sum, pid) => sum + (fieldsOf(`/proc/${pid}/status`).get('Threads') ?? 0), 0);
}

function isOwnedBy(uid: number, path: string): boolean {
  try {
    return statSync(path).uid === uid;
  } catch {
    return false; // it has ended
  }
}

/** What processes have used since they started, with those of their children that have ended. */
export interface ProcessTotals {
  readonly cpuSeconds: number;
  /** Bytes read from and written to disks; what the system's cache served is not included. */
  readonly diskRead: number;
  readonly diskWritten: number;
}

export function readTotals(ids: readonly number[]): ProcessTotals {
  let [ticks, diskRead, diskWritten] = [0, 0, 0];
  for (const pid of ids) {
    const text = readText(`/proc/${pid}/stat`);
    // Fields 14 to 17: the process's own times and those of its ended children, in user and in kernel mode. The name in parentheses
    // may contain anything, so fields are counted after it.
    const times = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    ticks += times.reduce((sum, time) => sum + Number(time), 0);
    const io = fieldsOf(`/proc/${pid}/io`);
    diskRead += io.get('read_bytes') ?? 0;
    diskWritten += io.get('write_bytes') ?? 0;
  }
  return { cpuSeconds: ticks / TICKS_PER_SECOND, diskRead, diskWritten };
}

/** Seconds that each thread has been ready to run and had no core since it started, by ID; empty where the kernel does not count them. */
export function readWaits(ids: readonly number[], maxThreads: number): ReadonlyMap<number, number> {
  const waits = new Map<number, number>();
  for (const pid of ids) {
    for (const thread of threadsOf(pid)) {
      if (waits.size >= maxThreads) return waits;
      // Nanoseconds: the time on a core, and the time in the queue for one.
      const [, waited] = readText(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
      if (waited !== undefined) waits.set(Number(thread), Number(waited) / 1e9);
    }
  }
  return waits;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // it has ended
  }
}

function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) =>
    readText(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** The numbers in lines like `Threads: 4` and `RssAnon: 1024 kB`. */
function fieldsOf(path: string): ReadonlyMap<string, number> {
  return new Map(
    [...readText(path).matchAll(/^(\w+):\s+(\d+)/gm)].map(([, name = '', number]) => [name, Number(number)]),
  );
}

function kilobytes(fields: ReadonlyMap<string, number>, ...names: readonly string[]): number {
  return names.reduce((sum, name) => sum + 1024 * (fields.get(name) ?? 0), 0);
}
