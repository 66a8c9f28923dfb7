import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './database.ts';

interface Change {
  /** Runs inside the transaction. */
  readonly apply: () => void;
  readonly onCommitted: () => void;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Joins changes that are asked for in the same turn of the event loop into one durable transaction, so that many of them
 * cost one wait for the disk. The slower the disk, the more come together while it is waited for.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  #waiting: Change[] = [];
  #timer: NodeJS.Immediate | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /**
   * Runs `work` soon, and settles with what it gave once that is on disk.
   *
   * @throws what `work` throws, which undoes its own writes and no others, or why the transaction could not be kept.
   */
  run<T>(work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let result: { readonly value: T } | undefined;
    this.#waiting.push({
      apply: () => (result = { value: work() }),
      onCommitted: () => result !== undefined && resolve(result.value),
      onFailed: reject,
    });
    this.#timer ??= setImmediate(() => this.flush());
    return promise;
  }

  /** Makes what waits durable now. */
  flush(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const changes = this.#waiting;
    if (changes.length === 0) return;
    this.#waiting = [];
    try {
      const done = inTransaction(this.#database, () => changes.filter((change) => this.#apply(change)));
      for (const { onCommitted } of done) onCommitted();
    } catch (error) {
      for (const { onFailed } of changes) onFailed(error);
    }
  }

  #apply({ apply, onFailed }: Change): boolean {
    this.#database.exec('SAVEPOINT change');
    try {
      apply();
      this.#database.exec('RELEASE change');
      return true;
    } catch (error) {
      // A full disk has ended the transaction already; then nothing of it is kept.
      if (!this.#database.isTransaction) throw error;
      this.#database.exec('ROLLBACK TO change; RELEASE change');
      onFailed(error);
      return false;
    }
  }
}
