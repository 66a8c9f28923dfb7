import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for this process alone, in the system's folder for temporary files. It is removed when it is disposed, or when the process
 * exits without that, as after a second Ctrl+C.
 */
export class TemporaryFolder implements AsyncDisposable {
  /** Of all instances, because a process that has more than ten listeners for its end is warned of a leak. */
  static readonly #open = new Set<TemporaryFolder>();
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
    if (TemporaryFolder.#open.size === 0) process.on('exit', TemporaryFolder.#removeAll);
    TemporaryFolder.#open.add(this);
  }

  /** @param name follows `farwharf-` in the name of the folder. @throws the system's error. */
  static async create(name: string): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(tmpdir(), `farwharf-${name}`)));
  }

  /** Removes the folder. @throws the system's error. */
  async [Symbol.asyncDispose](): Promise<void> {
    // Processes that were started in it may still write to it.
    await rm(this.path, { recursive: true, force: true, maxRetries: 10 });
    TemporaryFolder.#open.delete(this);
    if (TemporaryFolder.#open.size === 0) process.off('exit', TemporaryFolder.#removeAll);
  }

  /** A process that exits does not wait for anything. */
  static #removeAll(this: void): void {
    for (const { path } of TemporaryFolder.#open) {
      try {
        rmSync(path, { recursive: true, force: true });
      } catch {
        // Nothing can be reported any more.
      }
    }
  }
}
