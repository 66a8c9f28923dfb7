// More than any correction of a healthy machine's clock.
const LEEWAY_MS = 60 * 60_000;

/**
 * The time by which a running service decides what is old. A clock that is set ahead would make everything too old at once, so this time
 * advances at most an hour more than has really passed since the start. A clock that is set back delays deletions.
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
