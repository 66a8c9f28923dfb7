const STEP = 20; // to a millisecond
const LONGEST_MS = 20_000;

/** Counts delays in steps of 0.05 ms, so that millions take no more memory than one. */
export class Latencies {
  readonly #counts = new Uint32Array(LONGEST_MS * STEP + 1);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(milliseconds: number): void {
    const step = Math.min(LONGEST_MS * STEP, Math.max(0, Math.round(milliseconds * STEP)));
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#count += 1;
  }

  /** The delay that a part of all, from 0 to 1, stays below. */
  quantile(part: number): number {
    let left = part * this.#count;
    const step = this.#counts.findIndex((count) => (left -= count) <= 0);
    return step / STEP;
  }

  summary(): LatencySummary {
    return { count: this.#count, p50: this.quantile(0.5), p99: this.quantile(0.99), longest: this.quantile(1) };
  }
}

export interface LatencySummary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}
