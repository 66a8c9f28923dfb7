import type { DatabaseSync } from 'node:sqlite';
import { prepareAll, type Statements } from './sqlStatements.ts';

export const RESERVE_TABLE = 'CREATE TABLE IF NOT EXISTS reserve (filler BLOB NOT NULL) STRICT';
const SQL = {
  fill: 'INSERT INTO reserve (filler) VALUES (zeroblob(?))',
  clear: 'DELETE FROM reserve',
  freePages: 'PRAGMA freelist_count',
  pageSize: 'PRAGMA page_size',
};
// Below this share it is filled again.
const LOW_SHARE = 0.5;

/**
 * Space inside the files of the store that nothing else can use: unused pages of the database, and of its journal. With it the ends of
 * jobs, cancellations and the audit trail can be written while the disk is full.
 */
export class StoreReserve {
  readonly #database: DatabaseSync;
  readonly #sql: Statements<typeof SQL>;
  #bytes = 0;
  #hasJournal = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepareAll(database, SQL);
  }

  /** Bytes that are reserved in each of the two files; 0 for none. */
  set bytes(bytes: number) {
    this.#bytes = bytes;
    this.#hasJournal = false;
  }

  /** Takes space from the disk, unless the reserve has it. Called while the disk has enough. @throws the database's error. */
  fill(): void {
    if (this.#bytes === 0) return;
    const { freePages, pageSize } = this.#sql;
    const free = Number(freePages.get()?.['freelist_count']) * Number(pageSize.get()?.['page_size']);
    if (this.#hasJournal && free >= LOW_SHARE * this.#bytes) return;
    // The pages are written to the journal, and by the checkpoint to the database. Deleting the row leaves both files as they are.
    this.#sql.fill.run(this.#bytes);
    this.#checkpoint();
    this.#sql.clear.run();
    this.#hasJournal = true;
  }

  /** Lets the journal be written from its beginning again, so that it does not grow while the disk is full. */
  use(): void {
    this.#checkpoint();
  }

  #checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }
}
