const FREE_MS = 200;

/** Limits the work for observers to a fraction of a run's time: work over the limit is skipped for a while. */
export class TimeBudget {
  readonly #part: number;
  readonly #startedAt = performance.now();
  #spentMs = 0;

  /** @param part the part of the time from now on, in addition to the first 200 ms. */
  constructor(part: number) {
    this.#part = part;
  }

  get hasRoom(): boolean {
    return this.#spentMs < FREE_MS + (performance.now() - this.#startedAt) * this.#part;
  }

  spend<T>(work: () => T): T {
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      this.#spentMs += performance.now() - startedAt;
    }
  }
}
