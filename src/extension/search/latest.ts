/** Runs one piece of work at a time. What is asked for meanwhile replaces what waits, so that the last wish always wins and none piles up. */
export class Latest<T> {
  readonly #work: (wish: T) => Promise<void>;
  #waiting: { readonly wish: T } | undefined;
  #isRunning = false;

  /** `work` handles its own failures. */
  constructor(work: (wish: T) => Promise<void>) {
    this.#work = work;
  }

  /** Whether a newer wish waits, so that the answer to the current one is stale. */
  get isStale(): boolean {
    return this.#waiting !== undefined;
  }

  ask(wish: T): void {
    this.#waiting = { wish };
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let next = this.#waiting; next !== undefined; next = this.#waiting) {
        this.#waiting = undefined;
        await this.#work(next.wish);
      }
    } finally {
      this.#isRunning = false;
    }
  }
}
