import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateFile } from '../../core/files/ownFiles.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';

/**
 * Acquires the right to write in a folder; undefined if another process has it. It is a file lock of SQLite, because the system
 * releases that on all platforms however the process ends, which a file with a process ID does not achieve.
 *
 * @throws the system's error if the lock file cannot be created.
 */
export function takeWriterLock(folder: string): Disposable | undefined {
  const path = join(folder, 'writer.lock');
  createPrivateFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined;
    throw error;
  }
  return { dispose: () => database.close() };
}
