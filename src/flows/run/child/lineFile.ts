import { appendFileSync, renameSync } from 'node:fs';

const FLUSH_CHARACTERS = 64 * 1024;

/**
 * Appends JSON lines to a file, collected over a turn of the event loop. Writing is synchronous, so that nothing is lost if the
 * flow exits the process; a full disk stops the writing but not the flow.
 */
export class LineFile {
  readonly #path: string;
  readonly #maxCharacters: number;
  readonly #olderPath: string | undefined;
  #lines = '';
  #written = 0;
  #isScheduled = false;
  #isClosed = false;

  /** @param olderPath where a full file is moved; without it, further lines are dropped. */
  constructor(path: string, options: { readonly maxCharacters: number; readonly olderPath?: string }) {
    this.#path = path;
    this.#maxCharacters = options.maxCharacters;
    this.#olderPath = options.olderPath;
  }

  /** Returns false if the line was dropped. `isLast` writes it even if the file is full. */
  push(value: unknown, { isLast = false } = {}): boolean {
    if (this.#isClosed) return false;
    const line = `${JSON.stringify(value)}\n`;
    if (this.#written + line.length > this.#maxCharacters && !isLast && !this.#makeRoom(line.length)) return false;
    this.#lines += line;
    this.#written += line.length;
    if (this.#lines.length > FLUSH_CHARACTERS) this.flush();
    if (this.#isScheduled) return true;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
    return true;
  }

  flush(): void {
    if (this.#lines === '' || this.#isClosed) return;
    const lines = this.#lines;
    this.#lines = '';
    try {
      appendFileSync(this.#path, lines, { mode: 0o600 });
    } catch {
      this.#isClosed = true;
    }
  }

  #makeRoom(length: number): boolean {
    if (this.#olderPath === undefined || length > this.#maxCharacters) return false;
    this.flush();
    try {
      renameSync(this.#path, this.#olderPath);
    } catch {
      return false;
    }
    this.#written = 0;
    return true;
  }
}
