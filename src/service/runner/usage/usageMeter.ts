import { cgroupUsage, type JobCgroup } from '../../cgroups/jobCgroup.ts';
import {
  filesInMemory,
  proportionalMemory,
  readProcesses,
  readTotals,
  readWaits,
  type ProcessTotals,
} from './jobProcesses.ts';

// Of a job with more processes and threads, only a part is measured.
const MAX_PROCESSES = 10_000;
const MAX_THREADS = 1_000;
// Below this fraction of the limit, shared memory cannot matter.
const MIN_SHARED_PART = 0.02;
const NOTHING: ProcessTotals = { cpuSeconds: 0, diskRead: 0, diskWritten: 0 };

type MeteredUsage = Readonly<
  Record<
    'cpu_cores' | 'cpu_waiting' | 'memory_bytes' | 'disk_read_bytes_per_second' | 'disk_write_bytes_per_second',
    number
  >
>;

/** Adds up what the processes of a job use between two reports: mean rates, and the highest memory. */
export class UsageMeter {
  readonly #roots: () => readonly number[];
  readonly #cgroup: JobCgroup | null;
  /** The totals that `#used` includes. */
  #counted = NOTHING;
  #used = NOTHING;
  /** What the reports so far include. */
  #reported = NOTHING;
  #isBehind = false;
  #memory = 0;
  /** Seconds that each thread has waited for a core. What one waits between the last look and its end is not counted. */
  #waits: ReadonlyMap<number, number> = new Map();
  #waited = 0;
  #since: number;
  #until: number;

  /**
   * @param roots returns the job's first process, which has just started, and others whose descendants count as the job's.
   * @param cgroup the job's control group, if it has one, whose figures the kernel adds up.
   * @param now milliseconds of a steady clock.
   */
  constructor(roots: () => readonly number[], cgroup: JobCgroup | null, now: number) {
    this.#roots = roots;
    this.#cgroup = cgroup;
    this.#since = now;
    this.#until = now;
  }

  /** Milliseconds since the last report. */
  get elapsedMs(): number {
    return this.#until - this.#since;
  }

  /** @param now milliseconds of the same clock. */
  look(now: number): void {
    const processes = readProcesses(this.#roots(), MAX_PROCESSES);
    const { cpuSeconds, usedMemory } = this.#cgroup === null ? {} : cgroupUsage(this.#cgroup);
    this.#memory = Math.max(this.#memory, usedMemory ?? memoryOf(processes));
    const totals = readTotals(processes.ids);
    this.#count({ ...totals, cpuSeconds: cpuSeconds ?? totals.cpuSeconds });
    const waits = readWaits(processes.ids, MAX_THREADS);
    for (const [thread, seconds] of waits) {
      const before = this.#waits.get(thread) ?? 0;
      this.#waited += seconds < before ? seconds : seconds - before; // the ID of an ended one is used again
    }
    this.#waits = waits;
    this.#until = now;
  }

  /** The usage since the last report. Call it only after a look at a later time. */
  take(): MeteredUsage {
    const seconds = this.elapsedMs / 1000;
    const rate = (name: keyof ProcessTotals): number => (this.#used[name] - this.#reported[name]) / seconds;
    const usage = {
      cpu_cores: Number(rate('cpuSeconds').toFixed(3)),
      cpu_waiting: Number((this.#waited / seconds).toFixed(3)),
      memory_bytes: Math.round(this.#memory),
      disk_read_bytes_per_second: Math.round(rate('diskRead')),
      disk_write_bytes_per_second: Math.round(rate('diskWritten')),
    };
    this.#reported = this.#used;
    this.#memory = 0;
    this.#waited = 0;
    this.#since = this.#until;
    return usage;
  }

  /**
   * Adds the growth of the totals. They fall while a process that has ended is no longer listed and its parent has not inherited its
   * totals yet, and permanently if nobody inherits them. Only the second decrease in a row counts as permanent.
   */
  #count(totals: ProcessTotals): void {
    const growth = (name: keyof ProcessTotals): number => totals[name] - this.#counted[name];
    const isFall = [growth('cpuSeconds'), growth('diskRead'), growth('diskWritten')].some((each) => each < 0);
    if (!isFall) {
      this.#used = {
        cpuSeconds: this.#used.cpuSeconds + growth('cpuSeconds'),
        diskRead: this.#used.diskRead + growth('diskRead'),
        diskWritten: this.#used.diskWritten + growth('diskWritten'),
      };
    }
    if (!isFall || this.#isBehind) this.#counted = totals;
    this.#isBehind = isFall && !this.#isBehind;
  }
}

/** Bytes. Processes that share memory are measured precisely, which takes longer. */
function memoryOf({ ids, memory, largest }: ReturnType<typeof readProcesses>): number {
  const files = filesInMemory(ids[1]);
  if (files === 0 && memory - largest <= MIN_SHARED_PART * memory) return memory;
  // The system may not allow it for a process of another user.
  return proportionalMemory(ids, files) || memory;
}
