/** Runs one request at a time. A new request replaces the waiting one, so that the latest always runs and none pile up. */
export class Latest<T> {
  readonly #work: (request: T) => Promise<void>;
  #waiting: { readonly request: T } | undefined;
  #isRunning = false;

  /** `work` handles its own failures. */
  constructor(work: (request: T) => Promise<void>) {
    this.#work = work;
  }

  /** Whether a newer request is waiting, so that the result of the current one is stale. */
  get isStale(): boolean {
    return this.#waiting !== undefined;
  }

  ask(request: T): void {
    this.#waiting = { request };
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let next = this.#waiting; next !== undefined; next = this.#waiting) {
        this.#waiting = undefined;
        await this.#work(next.request);
      }
    } finally {
      this.#isRunning = false;
    }
  }
}
