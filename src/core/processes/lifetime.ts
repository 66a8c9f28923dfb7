export interface Disposable {
  dispose(): void;
}

/** Owns what listens, polls or spawns, and disposes it in reverse order. Items added after that are disposed immediately. */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #isDisposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.#isDisposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  /** @throws AggregateError after disposing all items, if some of them threw. */
  dispose(): void {
    this.#isDisposed = true;
    const errors: unknown[] = [];
    for (const item of this.#items.splice(0).reverse()) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'Some resources could not be released.');
  }
}

/**
 * Owns items that are released asynchronously, in reverse order, when it is disposed. Like `AsyncDisposableStack`, which Node.js has
 * since version 24.
 */
export class AsyncDisposableStore implements AsyncDisposable {
  #releases: (() => unknown)[] = [];

  /** Calls `release` when the store is disposed, and awaits its result. */
  defer(release: () => unknown): void {
    this.#releases.push(release);
  }

  /** Disposes `item` when the store is disposed. */
  use<T extends AsyncDisposable>(item: T): T {
    this.defer(() => item[Symbol.asyncDispose]());
    return item;
  }

  /** Moves everything to the returned store; this one then disposes nothing. */
  move(): AsyncDisposableStore {
    const moved = new AsyncDisposableStore();
    moved.#releases = this.#releases;
    this.#releases = [];
    return moved;
  }

  /** @throws AggregateError after releasing everything, if some of it failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (const release of this.#releases.splice(0).reverse()) {
      try {
        await release();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'Some resources could not be released.');
  }
}

/** An event that one owner fires and anyone may listen to. Keep the emitter private and expose only `event`. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>();

  /** Adds a listener; disposing the result removes it. */
  readonly event = (listener: (value: T) => void): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  };

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  fire(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

/** Waits until the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Waits until `isDone` returns true, which is checked now and after each event, or until the signal aborts. */
export function untilTrue(
  event: (listener: () => void) => Disposable,
  isDone: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let subscription: Disposable | undefined;
    const check = (): void => {
      if (!signal.aborted && !isDone()) return;
      subscription?.dispose();
      signal.removeEventListener('abort', check);
      resolve();
    };
    if (signal.aborted || isDone()) return check();
    subscription = event(check);
    signal.addEventListener('abort', check);
  });
}
