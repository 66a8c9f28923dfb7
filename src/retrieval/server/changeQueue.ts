import { setTimeout as sleep } from 'node:timers/promises';
import { abortReason } from '../../core/errors.ts';

// A single save is indexed almost at once. After many changes, such as a checkout, the queue waits for a pause, up to a limit.
const FEW = 20;
const QUIET_MS = 10;
const MANY_QUIET_MS = 100;
const MOST_WAIT_MS = 1000;
// Above this number of paths, checking the whole folder costs less than remembering each.
const MOST_PATHS = 20_000;

/** What changed: some paths, or possibly anything. */
export interface ChangeBatch {
  readonly isAll: boolean;
  readonly paths: ReadonlySet<string>;
}

/** Changes in a folder that are not indexed yet. Each path is listed once, however often it changed. */
export class ChangeQueue {
  #paths = new Set<string>();
  #isAll = false;
  #isBatchOut = false;
  #wake: (() => void) | undefined;

  /** The number of waiting paths; 1 if anything may have changed. */
  get size(): number {
    return this.#paths.size + (this.#isAll ? 1 : 0);
  }

  /** Whether no change is waiting or being indexed. */
  get isIdle(): boolean {
    return this.size === 0 && !this.#isBatchOut;
  }

  add(paths: Iterable<string>): void {
    for (const path of paths) this.#paths.add(path);
    if (this.#paths.size > MOST_PATHS) this.#isAll = true;
    if (this.#isAll) this.#paths.clear();
    this.#wake?.();
  }

  addAll(): void {
    this.#isAll = true;
    this.add([]);
  }

  /** Waits for changes and then for a pause. @throws the signal's reason on abort; the changes stay in the queue. */
  async next(signal: AbortSignal): Promise<ChangeBatch> {
    while (this.size === 0) await this.#change(signal);
    const since = performance.now();
    for (let size = 0; size !== this.size && performance.now() - since < MOST_WAIT_MS; ) {
      size = this.size;
      if (!this.#isAll) await sleep(size > FEW ? MANY_QUIET_MS : QUIET_MS, undefined, { signal });
    }
    signal.throwIfAborted();
    const batch = { isAll: this.#isAll, paths: this.#paths };
    this.#paths = new Set();
    this.#isAll = false;
    this.#isBatchOut = true;
    return batch;
  }

  /** Confirms that the last batch was indexed. */
  finish(): void {
    this.#isBatchOut = false;
  }

  /** Puts back the last batch, which could not be indexed. */
  putBack({ isAll, paths }: ChangeBatch): void {
    this.#isBatchOut = false;
    if (isAll) this.addAll();
    else this.add(paths);
  }

  #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(abortReason(signal));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    this.#wake = resolve;
    return promise.finally(() => signal.removeEventListener('abort', stop));
  }
}
