const FREE_MS = 200;

/** Keeps work for observers below a part of a run's time: what is too dear is left out, for a while. */
export class TimeBudget {
  readonly #part: number;
  readonly #startedAt = performance.now();
  #spentMs = 0;

  /** @param part of the time since now, above the first fifth of a second. */
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
