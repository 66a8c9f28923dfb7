import type { DatabaseSync } from 'node:sqlite';
import { integer, nullable } from '../database/tableColumns.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

export const SECRET_TABLE = `
  CREATE TABLE IF NOT EXISTS secrets (
    account    TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (account, name)
  ) STRICT, WITHOUT ROWID`;
/** What the table of an earlier version lacks. */
export const SECRET_COLUMNS = { redactsResults: nullable(integer('redacts_results')) };

interface SealedSecret extends Pick<Secret, 'changedAt'>, Partial<Pick<Secret, 'redactsResults'>> {
  readonly sealed: Uint8Array;
}

interface Secret {
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly changedAt: number;
  /** Whether its value is removed from text files among the results of jobs. */
  readonly redactsResults: boolean;
}

const SQL = {
  list: 'SELECT name, changed_at, redacts_results FROM secrets WHERE account = ? ORDER BY name',
  get: 'SELECT sealed FROM secrets WHERE account = ? AND name = ?',
  set: `INSERT INTO secrets (account, name, sealed, changed_at, redacts_results) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (account, name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at,
      redacts_results = coalesce(excluded.redacts_results, redacts_results)`,
  remove: 'DELETE FROM secrets WHERE account = ? AND name = ?',
};

/** The table of secrets: encrypted values by account and name. */
export class SecretTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  list(account: string): readonly Secret[] {
    return this.#sql.list.all(account).map(({ name, changed_at: at, redacts_results: redacts }) => ({
      name: String(name),
      changedAt: Number(at),
      redactsResults: redacts === 1,
    }));
  }

  /** The encrypted value; undefined if the account has no such secret. */
  get(account: string, name: string): Uint8Array | undefined {
    const sealed = this.#sql.get.get(account, name)?.['sealed'];
    return sealed instanceof Uint8Array ? sealed : undefined;
  }

  /** @param secret.redactsResults by default as before, and false for a new one. */
  set(account: string, name: string, { sealed, changedAt, redactsResults }: SealedSecret): void {
    const redacts = redactsResults === undefined ? null : Number(redactsResults);
    this.#sql.set.run(account, name, sealed, changedAt, redacts);
  }

  /** @returns whether it existed. */
  remove(account: string, name: string): boolean {
    return Number(this.#sql.remove.run(account, name).changes) > 0;
  }
}
