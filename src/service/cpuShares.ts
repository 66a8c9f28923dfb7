import { availableParallelism } from 'node:os';

/**
 * Which cores jobs run on. Each job gets as many as its machine class has, those that the fewest jobs run on; a job that has
 * more than there are runs on all.
 */
export class CpuShares {
  readonly #total: number;
  readonly #taken = new Map<string, readonly number[]>();

  constructor(total = availableParallelism()) {
    this.#total = total;
  }

  /** The cores for a job, which keeps those it has; undefined for all. */
  take(jobId: string, count: number): readonly number[] | undefined {
    if (count >= this.#total) return undefined;
    const known = this.#taken.get(jobId);
    if (known !== undefined) return known;
    const jobsOn = Array.from({ length: this.#total }, () => 0);
    for (const cores of this.#taken.values()) for (const core of cores) jobsOn[core] = (jobsOn[core] ?? 0) + 1;
    const cores = [...jobsOn.keys()]
      .toSorted((a, b) => (jobsOn[a] ?? 0) - (jobsOn[b] ?? 0) || a - b)
      .slice(0, count)
      .toSorted((a, b) => a - b);
    this.#taken.set(jobId, cores);
    return cores;
  }

  /** Notes what a job was given by an earlier service. */
  adopt(jobId: string, cores: readonly number[]): void {
    this.#taken.set(jobId, cores);
  }

  has(jobId: string): boolean {
    return this.#taken.has(jobId);
  }

  release(jobId: string): void {
    this.#taken.delete(jobId);
  }
}
