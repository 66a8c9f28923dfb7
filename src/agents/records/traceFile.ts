import type { FileHandle } from 'node:fs/promises';

const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Writes trace events to a file, one JSON object per line: pass its `onEvent` to `run`, and close it afterwards.
 *
 * Lines are collected and written together at the end of each turn of the event loop, so that a loop of sync nodes does not
 * pay for a write per event.
 */
export class TraceFile implements AsyncDisposable {
  readonly #file: Promise<FileHandle>;
  #written: Promise<unknown>;
  #lines = '';
  #isScheduled = false;

  /** Creates or empties the file; `close` reports if that failed. */
  constructor(path: string) {
    // Loaded here, because it takes a tenth of the time of importing the library.
    this.#file = import('node:fs/promises').then(({ open }) => open(path, 'w'));
    this.#written = this.#file;
    this.#file.catch(() => {}); // reported by close()
  }

  /** The option of `run`; bound, so it can be passed on its own. */
  readonly onEvent = (event: { readonly type: string }): void => {
    this.#lines += `${lineOf(event)}\n`;
    if (this.#lines.length > FLUSH_CHARACTERS) this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  };

  /** @throws the system's error if the file could not be written. */
  async close(): Promise<void> {
    this.#flush();
    const file = await this.#file;
    try {
      await this.#written;
    } finally {
      await file.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  // Writes one after another; after a failure, no further write is tried.
  #flush(): void {
    if (this.#lines === '') return;
    const lines = this.#lines;
    this.#lines = '';
    this.#written = this.#written.then(async () => (await this.#file).appendFile(lines));
    this.#written.catch(() => {}); // reported by close()
  }
}

/** A trace is never why a run fails, so emitted data that JSON cannot store is written as a text. */
function lineOf(event: { readonly type: string; readonly data?: unknown }): string {
  try {
    return JSON.stringify(event);
  } catch {
    // Loaded here, because it takes long, and few events need it.
    const { inspect } = process.getBuiltinModule('node:util');
    return JSON.stringify({ ...event, data: inspect(event.data, { customInspect: false }) });
  }
}
