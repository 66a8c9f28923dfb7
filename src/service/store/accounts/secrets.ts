import type { DatabaseSync } from 'node:sqlite';
import { prepareAll, type Statements } from '../database/statements.ts';

export const SECRET_TABLE = `
  CREATE TABLE IF NOT EXISTS secrets (
    account    TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (account, name)
  ) STRICT, WITHOUT ROWID`;
const SQL = {
  list: 'SELECT name, changed_at FROM secrets WHERE account = ? ORDER BY name',
  get: 'SELECT sealed FROM secrets WHERE account = ? AND name = ?',
  set: `INSERT INTO secrets (account, name, sealed, changed_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (account, name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at`,
  remove: 'DELETE FROM secrets WHERE account = ? AND name = ?',
};

/** The table of secrets: encrypted values by account and name. */
export class SecretTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** The names of an account's secrets, and when each was set, in milliseconds since 1970. */
  list(account: string): readonly { readonly name: string; readonly changedAt: number }[] {
    return this.#sql.list
      .all(account)
      .map(({ name, changed_at: at }) => ({ name: String(name), changedAt: Number(at) }));
  }

  /** The encrypted value; undefined if the account has no such secret. */
  get(account: string, name: string): Uint8Array | undefined {
    const sealed = this.#sql.get.get(account, name)?.['sealed'];
    return sealed instanceof Uint8Array ? sealed : undefined;
  }

  set(account: string, name: string, sealed: Uint8Array, changedAt: number): void {
    this.#sql.set.run(account, name, sealed, changedAt);
  }

  /** @returns whether it existed. */
  remove(account: string, name: string): boolean {
    return Number(this.#sql.remove.run(account, name).changes) > 0;
  }
}
