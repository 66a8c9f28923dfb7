import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './database.ts';

interface Change {
  /** Runs inside the transaction. */
  readonly apply: () => void;
  readonly onCommitted: () => void;
  readonly onFailed: (error: unknown) => void;
}

// While a transaction is made durable nothing else happens in this process, so most of the time must be left for the rest: …
const PAUSE_PER_WAIT = 3;
// … but nobody waits longer than a person would notice.
const MAX_PAUSE_MS = 50;

/**
 * Joins changes that are asked for at about the same time into one durable transaction, so that many of them cost one wait
 * for the disk. On a fast disk they are joined in a turn of the event loop; the slower it is, the longer they gather.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  #waiting: Change[] = [];
  #timer: NodeJS.Timeout | undefined;
  #notBefore = 0;

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
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#notBefore - performance.now()));
    return promise;
  }

  /** Makes what waits durable now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const changes = this.#waiting;
    if (changes.length === 0) return;
    this.#waiting = [];
    const startedAt = performance.now();
    try {
      const done = inTransaction(this.#database, () => changes.filter((change) => this.#apply(change)));
      for (const { onCommitted } of done) onCommitted();
    } catch (error) {
      for (const { onFailed } of changes) onFailed(error);
    }
    const now = performance.now();
    this.#notBefore = now + Math.min(MAX_PAUSE_MS, PAUSE_PER_WAIT * (now - startedAt));
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
