// The system's clock has a resolution of milliseconds, and is corrected by less than this without being set.
const STEP_MS = 2_000;
// A process that was not scheduled between two readings would look like a clock that was set.
const MAX_READING_MS = 100;

/** A change of the system's clock that the time that passed does not explain. */
export interface ClockStep {
  /** Negative if the clock was set back. */
  readonly seconds: number;
  /** By `performance.now()`, in milliseconds. */
  readonly at: number;
}

/** Compares the system's clock with the monotonic one, which nobody can set. */
export class ClockWatch {
  #offset = readOffset();
  #steps = 0;
  #last: ClockStep | undefined;

  /** How often the clock was set since the start. */
  get steps(): number {
    this.compare();
    return this.#steps;
  }

  /** The last time that the clock was set; undefined if it was not. */
  get lastStep(): ClockStep | undefined {
    this.compare();
    return this.#last;
  }

  /** Notices when the clock was set since the last comparison. */
  compare(): void {
    const now = readOffset();
    if (now === undefined) return;
    const step = this.#offset === undefined ? 0 : now - this.#offset;
    this.#offset = now;
    if (Math.abs(step) < STEP_MS) return;
    this.#steps += 1;
    this.#last = { seconds: step / 1000, at: performance.now() };
  }
}

/** The system's clock minus the monotonic one, in milliseconds; undefined if the reading took too long. */
function readOffset(): number | undefined {
  const before = performance.now();
  const clock = Date.now();
  return performance.now() - before > MAX_READING_MS ? undefined : clock - before;
}
