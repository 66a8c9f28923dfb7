import { repeat } from '../../core/processes/repeat.ts';
import type { Health } from '../health/health.ts';
import { removeExpired, type RetentionContext } from './retention.ts';

const CHECK_MS = 60_000;
const SWEEP_MS = 10 * 60_000;

// More than any correction of a healthy machine's clock.
const LEEWAY_MS = 60 * 60_000;

export interface HousekeepingOptions extends Omit<RetentionContext, 'now' | 'signal'> {
  readonly health: Health;
  /** Removes old submissions that did not become jobs, and environments that are kept beyond their limit. */
  readonly tidyFiles: () => Promise<void>;
}

/** Deletes old files and logs, and warns before the disk is full, while the service runs. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #time = new SteadyTime();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #reported: readonly string[] = [];
  #resultsBytes: number | undefined;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Bytes of all results, as of the last sweep; undefined before the first. */
  get resultsBytes(): number | undefined {
    return this.#resultsBytes;
  }

  start(): void {
    let nextSweep = 0;
    const { signal } = this.#stop;
    const round = async (): Promise<void> => {
      try {
        await this.#checkHealth();
        if (performance.now() < nextSweep) return;
        nextSweep = performance.now() + SWEEP_MS;
        await this.#sweep(signal);
      } catch (error) {
        if (!signal.aborted) this.#options.log.error('housekeeping failed', { error });
      }
    };
    this.#running = repeat(round, CHECK_MS, signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Logs problems and warnings once when they begin, and once when they are over. */
  async #checkHealth(): Promise<void> {
    const { health, log } = this.#options;
    const { parts } = await health.report();
    const now = Object.values(parts).flatMap(({ status, message }) => (status === 'ok' ? [] : [message]));
    if (now.length > 0 && this.#reported.length === 0) log.warn('the service needs attention', { problems: now });
    if (now.length === 0 && this.#reported.length > 0) log.info('the service is healthy again');
    this.#reported = now;
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { expiry, files, log, settings, tidyFiles } = this.#options;
    await tidyFiles();
    const removed = await removeExpired({ expiry, files, log, settings, now: this.#time.now(), signal });
    this.#resultsBytes = removed.resultsBytes;
    const { results, overflow, logs } = removed;
    if (results + overflow + logs > 0) log.info('old files and logs were deleted', { results, overflow, logs });
    if (overflow > 0) log.warn('results were deleted early to stay below max_total_gb', { jobs: overflow });
  }
}

/**
 * The time by which a running service decides what is old. A clock that is set ahead would make everything too old at once, so this time
 * advances at most an hour more than has really passed since the start. A clock that is set back delays deletions.
 */
class SteadyTime {
  readonly #startedAt = Date.now();
  readonly #started = performance.now();

  /** Milliseconds since 1970. */
  now(): number {
    const passed = performance.now() - this.#started;
    return Math.min(Date.now(), this.#startedAt + passed + LEEWAY_MS);
  }
}
