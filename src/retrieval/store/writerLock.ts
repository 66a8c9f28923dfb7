import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Disposable } from '../../core/processes/lifetime.ts';

/**
 * Takes the right to write in a folder, or gives undefined where another process has it. It is a file lock of SQLite: the
 * system gives it back when its process ends in whatever way, on all platforms, which a file with a process id does not.
 *
 * @throws the system's error when the lock's file cannot be made.
 */
export function takeWriterLock(folder: string): Disposable | undefined {
  const path = join(folder, 'writer.lock');
  closeSync(openSync(path, 'a', 0o600));
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
