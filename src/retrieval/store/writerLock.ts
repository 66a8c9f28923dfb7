import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Disposable } from '../../core/lifetime.ts';

/**
 * Takes the right to write in a folder, or gives undefined where another process has it. It is a file lock of SQLite: the
 * system gives it back when its process ends in whatever way, on all platforms, which a file with a process id does not.
 *
 * @throws the system's error when the lock's file cannot be made.
 */
export function takeWriterLock(folder: string): Disposable | undefined {
  const database = new DatabaseSync(join(folder, 'writer.lock'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined;
    throw error;
  }
  return { dispose: () => database.close() };
}
