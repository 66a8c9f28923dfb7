import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';

export interface LogFileOptions {
  /** A file that would grow over this is set aside as `<path>.1`, the one before as `<path>.2`, … */
  readonly maxBytes: number;
  /** How many set aside ones are kept. */
  readonly keep: number;
}

/**
 * A file of lines for this user only, whose size and number are bounded.
 *
 * Lines are written at once and not buffered: the last one before a crash is the one that is looked for. That costs some
 * ten microseconds a line. A line that cannot be written (full disk) is dropped: no log may end what it tells about. A file
 * that cannot be set aside grows on instead.
 */
export class LogFile implements Disposable {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #descriptor: number;
  #bytes = 0;

  /** @throws AppError `permission` when the file cannot be opened. */
  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#descriptor = this.#open();
  }

  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    try {
      if (this.#bytes > 0 && this.#bytes + bytes.length > this.#options.maxBytes) this.#tryToRotate();
      this.#bytes += writeSync(this.#descriptor, bytes);
    } catch {
      // The next line may find room again.
    }
  }

  /** Opens the file of that name again, which somebody else may have moved away. The old one is kept where that fails. */
  reopen(): void {
    const before = this.#descriptor;
    this.#descriptor = this.#open();
    closeSync(before);
  }

  dispose(): void {
    closeSync(this.#descriptor);
  }

  #open(): number {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const descriptor = openSync(this.#path, 'a', 0o600);
      this.#bytes = fstatSync(descriptor).size;
      return descriptor;
    } catch (cause) {
      const message = `The log file ${this.#path} cannot be written: ${messageOf(cause)}. Choose another one with --log.`;
      throw new AppError('permission', message, { cause });
    }
  }

  #tryToRotate(): void {
    try {
      this.#rotate();
    } catch {
      // Its folder may be another user's, who rotates logs by other means, or the disk full.
    }
  }

  #rotate(): void {
    const { keep } = this.#options;
    for (let number = keep; number > 0; number -= 1) {
      moveIfThere(number === 1 ? this.#path : `${this.#path}.${number - 1}`, `${this.#path}.${number}`);
    }
    if (keep === 0) rmSync(this.#path, { force: true });
    this.reopen();
  }
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
