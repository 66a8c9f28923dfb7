import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { TraceEvent } from './trace.ts';

const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Writes trace events to a file, one JSON object per line: pass its `onEvent` to `run`, and close it afterwards.
 *
 * Lines are gathered and written together at the end of each turn of the event loop, so that a loop of sync nodes does not
 * pay for a write per event.
 */
export class TraceFile implements AsyncDisposable {
  readonly #stream: WriteStream;
  readonly #ended: Promise<void>;
  #lines = '';
  #isScheduled = false;

  constructor(path: string) {
    this.#stream = createWriteStream(path);
    this.#ended = finished(this.#stream);
    this.#ended.catch(() => {}); // reported by close()
  }

  /** The option of `run`; bound, so it can be passed on its own. */
  readonly onEvent = (event: TraceEvent): void => {
    this.#lines += `${JSON.stringify(event)}\n`;
    if (this.#lines.length > FLUSH_CHARACTERS) this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  };

  /** @throws the system's error when the file could not be written. */
  async close(): Promise<void> {
    this.#flush();
    this.#stream.end();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #flush(): void {
    if (this.#lines === '' || this.#stream.writableEnded || this.#stream.destroyed) return;
    this.#stream.write(this.#lines);
    this.#lines = '';
  }
}
