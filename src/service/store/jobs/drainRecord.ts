import type { DatabaseSync } from 'node:sqlite';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

export const DRAIN_TABLE = `
  CREATE TABLE IF NOT EXISTS drain (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    since    INTEGER NOT NULL,
    reason   TEXT
  ) STRICT`;
const COLUMNS = {
  /** Milliseconds since 1970. */
  since: integer('since'),
  /** The operator's words. */
  reason: nullable(text('reason')),
};
/** The record of a drain: nothing new is accepted or started. */
export type Drain = RecordOf<typeof COLUMNS>;
const toDrain = rowReader(COLUMNS);
const SQL = {
  get: 'SELECT since, reason FROM drain WHERE only_row = 1',
  set: 'INSERT OR REPLACE INTO drain (only_row, since, reason) VALUES (1, ?, ?)',
  clear: 'DELETE FROM drain',
};

/** Whether an operator has drained the service. It is in the store, so that it survives a restart. */
export class DrainRecord {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** Undefined unless the service is drained. */
  get(): Drain | undefined {
    const row = this.#sql.get.get();
    return row && toDrain(row);
  }

  set({ since, reason }: Drain): void {
    this.#sql.set.run(since, reason);
  }

  clear(): void {
    this.#sql.clear.run();
  }
}
