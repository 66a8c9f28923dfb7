import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { abortReason } from '../../core/errors.ts';

// Readers hardly notice this delay, and what a job writes meanwhile is copied together.
const MIN_ROUND_MS = 40;
// The rate of checks over all jobs, however many there are, so that following them takes a bounded time.
const MAX_CHECKS_PER_MS = 1;
// A silent job is checked less and less often, …
const POLL_GROWTH = 1.25;
const MAX_POLL_MS = 200;
// … and rarely if the file system reports changes, which it does for writes on this machine.
const MAX_WATCHED_POLL_MS = 1_000;

// Jobs of the same slot are checked at the same moment, so that their new output shares a transaction. With a single slot everything else would
// wait for all of them.
const SLOTS = 5;

/** The pace of checks, which all followed jobs share. */
export class FollowPace {
  #jobs = 0;
  #entered = 0;

  /** @returns the slot of the job. */
  enter(): number {
    this.#jobs += 1;
    return this.#entered++ % SLOTS;
  }

  leave(): void {
    this.#jobs -= 1;
  }

  /** The time between two checks of one job that writes all the time, in milliseconds. */
  get roundMs(): number {
    return Math.max(MIN_ROUND_MS, this.#jobs / MAX_CHECKS_PER_MS);
  }

  /** The time until the jobs of a slot are checked again, in milliseconds. */
  untilRoundMs(slot: number): number {
    const { roundMs } = this;
    return roundMs - ((performance.now() + (slot * roundMs) / SLOTS) % roundMs);
  }
}

/** Decides when a job's folder is checked again: when something in it has changed, or after a while. */
export class JobWatch {
  readonly #pace: FollowPace;
  readonly #slot: number;
  readonly #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #onChange: (() => void) | undefined;
  #pollMs = MIN_ROUND_MS;

  /** @param isLocal whether the folder is written on this machine. */
  constructor(folder: string, { pace, isLocal }: { readonly pace: FollowPace; readonly isLocal: boolean }) {
    this.#pace = pace;
    this.#slot = pace.enter();
    this.#watcher = isLocal ? watchFolder(folder, () => this.#note()) : undefined;
  }

  /** Waits for the next round. @throws the signal's reason on abort. */
  async next({ hasNews, signal }: { readonly hasNews: boolean; readonly signal: AbortSignal }): Promise<void> {
    const { roundMs } = this.#pace;
    await sleep(this.#pace.untilRoundMs(this.#slot), undefined, { signal });
    const longest = Math.max(roundMs, this.#watcher === undefined ? MAX_POLL_MS : MAX_WATCHED_POLL_MS);
    this.#pollMs = hasNews ? roundMs : Math.min(longest, this.#pollMs * POLL_GROWTH);
    if (!this.#hasChanged && this.#pollMs > roundMs) await this.#change(this.#pollMs - roundMs, signal);
    this.#hasChanged = false;
  }

  [Symbol.dispose](): void {
    this.#pace.leave();
    this.#watcher?.close();
  }

  #note(): void {
    this.#hasChanged = true;
    this.#onChange?.();
  }

  #change(withinMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', settle);
        this.#onChange = undefined;
        if (signal.aborted) reject(abortReason(signal));
        else resolve();
      };
      const timer = setTimeout(settle, withinMs);
      signal.addEventListener('abort', settle);
      this.#onChange = settle;
      if (signal.aborted) settle();
    });
  }
}

/** Undefined if the system cannot watch another folder, which is then polled like one on a network. */
function watchFolder(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
