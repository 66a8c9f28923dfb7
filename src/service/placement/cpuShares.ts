import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * The cores that jobs run on. Each job gets as many as its machine class has, from those with the fewest jobs, or all cores if the
 * class has more than exist.
 */
export class CpuShares {
  readonly #cores: readonly number[];
  readonly #taken = new Map<string, readonly number[]>();

  constructor(cores = allowedCores()) {
    this.#cores = cores;
  }

  /** The cores for a job; undefined for all. A repeated call returns the same cores. */
  take(jobId: string, count: number): readonly number[] | undefined {
    if (count >= this.#cores.length) return undefined;
    const known = this.#taken.get(jobId);
    if (known !== undefined) return known;
    const jobsOn = new Map<number, number>();
    for (const core of [...this.#taken.values()].flat()) jobsOn.set(core, (jobsOn.get(core) ?? 0) + 1);
    const cores = this.#cores
      .toSorted((a, b) => (jobsOn.get(a) ?? 0) - (jobsOn.get(b) ?? 0) || a - b)
      .slice(0, count)
      .toSorted((a, b) => a - b);
    this.#taken.set(jobId, cores);
    return cores;
  }

  /** Records the cores that an earlier service chose for a job, unless those of the job are known. */
  adopt(jobId: string, chosen: () => readonly number[]): void {
    if (!this.#taken.has(jobId)) this.#taken.set(jobId, chosen());
  }

  release(jobId: string): void {
    this.#taken.delete(jobId);
  }
}

/** The cores that this process may use (proc(5)). In a container or a systemd slice, they need not start at 0. */
export function allowedCores(): readonly number[] {
  const [, list] = /^Cpus_allowed_list:\s*([\d,-]+)$/m.exec(readStatus()) ?? [];
  if (list === undefined) return Array.from({ length: availableParallelism() }, (_, core) => core);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return ''; // not Linux
  }
}
