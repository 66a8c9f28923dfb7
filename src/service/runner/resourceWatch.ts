import { readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceLimits } from '../jobFiles/confinement.ts';

const EVERY_MS = 250;
// statfs(2)
const TMPFS = 0x01021994;

/**
 * Waits until the processes of a job together exceed a limit, and returns a sentence that says so; undefined once the signal
 * aborts.
 *
 * The system's own limits apply to single processes, and count reserved rather than used memory: Node.js alone reserves a
 * gigabyte. So this checks a few times a second, like clusters without control groups. It sees the descendants of the job's
 * first process on Linux, and nothing on other systems.
 */
export async function untilOverLimit(
  root: number,
  { machineClass, memoryBytes, maxProcesses }: ResourceLimits,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  while (!signal.aborted) {
    const { ids, threads, memory } = measure(root, maxProcesses);
    if (threads >= maxProcesses) {
      return `The job was stopped because it had ${threads} or more processes and threads; the limit is ${maxProcesses}.`;
    }
    const files = filesInMemory(ids[1]);
    if (memoryBytes !== null && memory + files > memoryBytes) {
      const used = proportional(ids, files);
      if (used > memoryBytes) {
        return `The job was stopped because it used ${gigabytes(used)} of memory; the machine class ${machineClass} has ${gigabytes(memoryBytes)}. Make it use less, or choose a larger machine class.`;
      }
    }
    await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
  return undefined;
}

interface Usage {
  readonly ids: number[];
  threads: number;
  /** Bytes; memory that processes share counts for each of them. */
  memory: number;
}

/** Stops at the limit, because processes that never stop forking outrun anyone who counts them all. */
function measure(root: number, maxProcesses: number): Usage {
  const usage: Usage = { ids: [], threads: 0, memory: 0 };
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined && usage.threads < maxProcesses; pid = waiting.pop()) {
    const status = fieldsOf(`/proc/${pid}/status`);
    usage.ids.push(pid);
    usage.threads += status.get('Threads') ?? 0;
    usage.memory += kilobytes(status, 'RssAnon', 'RssShmem');
    waiting.push(...childrenOf(pid));
  }
  return usage;
}

/**
 * Bytes that processes use. Shared memory counts once; mapped files on a disk do not count, because they can be read again.
 *
 * @param files bytes of files in memory. Mapped parts of them count as shared memory too, so the larger of both is used.
 */
function proportional(ids: readonly number[], files: number): number {
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
function filesInMemory(pid: number | undefined): number {
  try {
    const path = `/proc/${pid}/root/dev`;
    if (statSync(path).dev === statSync('/dev').dev) return 0;
    const { type, blocks, bfree, bsize } = statfsSync(path);
    return type === TMPFS ? (blocks - bfree) * bsize : 0;
  } catch {
    return 0; // it has ended
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readText(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return []; // it has ended
  }
}

/** The numbers in lines like `Threads: 4` and `RssAnon: 1024 kB` (proc(5)). */
function fieldsOf(path: string): ReadonlyMap<string, number> {
  return new Map(
    [...readText(path).matchAll(/^(\w+):\s+(\d+)/gm)].map(([, name = '', number]) => [name, Number(number)]),
  );
}

function kilobytes(fields: ReadonlyMap<string, number>, ...names: readonly string[]): number {
  return names.reduce((sum, name) => sum + 1024 * (fields.get(name) ?? 0), 0);
}

/** In the unit of `memory_gb`. */
function gigabytes(bytes: number): string {
  return `${Number((bytes / 2 ** 30).toFixed(2))} GB`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
