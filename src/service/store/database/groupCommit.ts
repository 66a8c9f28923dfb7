import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './database.ts';
import { prepareAll, type Statements } from './sqlStatements.ts';

interface Change {
  /** Runs inside the transaction. */
  readonly apply: () => void;
  readonly onCommitted: () => void;
  readonly onFailed: (error: unknown) => void;
}

// A commit blocks this process, so most of the time must be left for other work, …
const PAUSE_PER_WAIT = 3;
// … but no change waits longer than a person would notice.
const MAX_PAUSE_MS = 50;
const SQL = { begin: 'SAVEPOINT change', end: 'RELEASE change', undo: 'ROLLBACK TO change' };

/**
 * Combines changes that are requested at about the same time into one durable transaction, so that many of them cost one wait
 * for the disk. On a fast disk they are collected for one turn of the event loop; the slower the disk, the longer.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #sql: Statements<typeof SQL>;
  #waiting: Change[] = [];
  #timer: NodeJS.Timeout | undefined;
  #notBefore = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepareAll(database, SQL);
  }

  /**
   * Runs `work` soon, and resolves with its result once that is on disk.
   *
   * @throws what `work` throws, which undoes only its own writes, or the error of the transaction.
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

  /** Commits pending changes now. */
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
    this.#sql.begin.run();
    try {
      apply();
      this.#sql.end.run();
      return true;
    } catch (error) {
      // A full disk has rolled back the whole transaction already.
      if (!this.#database.isTransaction) throw error;
      this.#sql.undo.run();
      this.#sql.end.run();
      onFailed(error);
      return false;
    }
  }
}
