// More than the clock of a healthy machine is ever corrected by.
const LEEWAY_MS = 60 * 60_000;

/**
 * The time by which a running service deletes. A clock that is set ahead would make everything too old at once, so that this time moves by at
 * most an hour more than has passed since the start; a clock that is set back delays deletions.
 */
export class SteadyTime {
  readonly #startedAt = Date.now();
  readonly #started = performance.now();

  /** Milliseconds since 1970. */
  now(): number {
    const passed = performance.now() - this.#started;
    return Math.min(Date.now(), this.#startedAt + passed + LEEWAY_MS);
  }
}
