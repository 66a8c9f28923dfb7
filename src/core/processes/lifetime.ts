export interface Disposable {
  dispose(): void;
}

/** Owns what listens, polls or spawns; disposes it in reverse order, and at once what arrives after its own end. */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #isDisposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.#isDisposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  /** @throws AggregateError after all items were disposed, when some of them threw. */
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
 * Owns what is released asynchronously, in reverse order, when it is disposed. `AsyncDisposableStack` does the same, which Node.js
 * has from version 24 on.
 */
export class AsyncDisposableStore implements AsyncDisposable {
  #releases: (() => unknown)[] = [];

  /** Calls `release` when the store is disposed, and waits for the promise that it may return. */
  defer(release: () => unknown): void {
    this.#releases.push(release);
  }

  /** Disposes `item` when the store is disposed. */
  use<T extends AsyncDisposable>(item: T): T {
    this.defer(() => item[Symbol.asyncDispose]());
    return item;
  }

  /** Hands everything over to the store that is returned; this one then disposes nothing. */
  move(): AsyncDisposableStore {
    const moved = new AsyncDisposableStore();
    moved.#releases = this.#releases;
    this.#releases = [];
    return moved;
  }

  /** @throws AggregateError after everything was released, when some of it failed. */
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

/** An event that one owner fires and anyone may listen to. Keep it in a private field and show `event` only. */
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
