import { open } from 'node:fs/promises';
import { backup, type DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';

// Pages per step of a copy; the service continues between two steps.
const COPY_PAGES = 100;

/** The store as a file, regardless of its contents. */
export class StoreFile {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Writes without changing anything. @throws the database's error if the store cannot be written. */
  probe(): void {
    const version = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version']);
    this.#database.exec(`PRAGMA user_version = ${version}`);
  }

  /**
   * Copies the store to a new file for this user only, while the store is in use. The copy is consistent: each transaction of the
   * meantime is either in it or not (https://www.sqlite.org/backup.html).
   */
  async copyTo(path: string): Promise<void> {
    await using file = await open(path, 'wx', 0o600);
    let flushing: Promise<void> | undefined;
    // SQLite's last step waits for the disk, and the whole service waits for that step: more than a second with 1 GB to flush.
    // So copied pages are flushed along the way.
    const progress = (): void => {
      flushing ??= file
        .datasync()
        .catch(() => {}) // the last sync reports errors of the disk
        .finally(() => (flushing = undefined));
    };
    await backup(this.#database, path, { rate: COPY_PAGES, progress });
    await flushing;
    await file.sync();
  }

  /** Reads the whole store. @throws AppError `corrupt` if a page is damaged. */
  check(): void {
    const answer = this.#database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    if (answer !== 'ok') throw new AppError('corrupt', `The store is damaged: ${String(answer)}.`);
  }
}
