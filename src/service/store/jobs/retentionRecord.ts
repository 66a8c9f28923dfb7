import type { DatabaseSync } from 'node:sqlite';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

export const RETENTION_TABLE = `
  CREATE TABLE IF NOT EXISTS retention (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    settings TEXT NOT NULL
  ) STRICT`;
const SQL = {
  get: 'SELECT settings FROM retention WHERE only_row = 1',
  set: 'INSERT OR REPLACE INTO retention (only_row, settings) VALUES (1, ?)',
};

/** The `[retention]` of the last start, as JSON. It is in the store, so that a restored backup has it too. */
export class RetentionRecord {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** Undefined for a store that no service with this record has opened. */
  get(): string | undefined {
    const settings = this.#sql.get.get()?.['settings'];
    return settings === undefined ? undefined : String(settings);
  }

  set(settings: string): void {
    this.#sql.set.run(settings);
  }
}
