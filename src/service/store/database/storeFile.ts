import { open } from 'node:fs/promises';
import { backup, type DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';

// Pages that are copied at once; between two such steps the service goes on.
const COPY_PAGES = 100;

/** The store as a file, whatever is in it. */
export class StoreFile {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Writes something that changes nothing. @throws the database's error when the store cannot be written. */
  probe(): void {
    const version = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version']);
    this.#database.exec(`PRAGMA user_version = ${version}`);
  }

  /**
   * Copies the store as it is at one moment into a new file for this user only, while it is written to: what changes
   * meanwhile is in the copy or not, whole transactions at a time (https://www.sqlite.org/backup.html).
   */
  async copyTo(path: string): Promise<void> {
    await using file = await open(path, 'wx', 0o600);
    let flushing: Promise<void> | undefined;
    // SQLite's last step waits for the disk, and everybody for that step: with 1 GB to flush, a second and more. So what is
    // copied is flushed on the way.
    const progress = (): void => {
      flushing ??= file
        .datasync()
        .catch(() => {}) // what is wrong with the disk shows at the end
        .finally(() => (flushing = undefined));
    };
    await backup(this.#database, path, { rate: COPY_PAGES, progress });
    await flushing;
    await file.sync();
  }

  /** Reads all of the store. @throws AppError `corrupt` when a page of it is damaged. */
  check(): void {
    const answer = this.#database.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    if (answer !== 'ok') throw new AppError('corrupt', `The store is damaged: ${String(answer)}.`);
  }
}
