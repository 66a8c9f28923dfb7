import { fstatSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import type { Printable } from '../../core/text/printable.ts';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';

export type StreamName = 'stdout' | 'stderr';

/** An output stream, which may be a terminal. */
export interface TextStream {
  readonly writableNeedDrain?: boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  on?(event: 'resize', listener: () => void): unknown;
  once?(event: 'drain' | 'error', listener: () => void): unknown;
  off?(event: 'drain' | 'error' | 'resize', listener: () => void): unknown;
}

const READER_LEFT = 'EPIPE';

/**
 * Stdout and stderr of this process. Their errors never stop it. Text that stderr does not accept is dropped, because notes and
 * progress matter less than the work itself. A failure of stdout is reported when the work is done.
 */
export class Output {
  readonly #streams: Readonly<Record<StreamName, TextStream>>;
  readonly #closed = new AbortController();
  #failure: AppError | undefined;
  #hasStderrReader = true;

  constructor(streams: Readonly<Record<StreamName, TextStream>>) {
    this.#streams = streams;
    streams.stdout.on?.('error', (error) => this.#closeStdout(error));
    streams.stderr.on?.('error', (error) => {
      if (systemCode(error) !== READER_LEFT) return;
      this.#hasStderrReader = false;
      // After `2>&1`, both have the same reader, and stdout may not be written for hours, so stderr must notice its exit.
      if (isOnePipe()) this.#closeStdout(error);
    });
  }

  /** Aborted once stdout accepts no more text. Work that only prints stops then; other work continues. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Why stdout failed; undefined while it works, and after its reader exited, as in `farwharf watch ID | head`. */
  get failure(): AppError | undefined {
    return this.#failure;
  }

  stream(name: StreamName): TextStream {
    return this.#streams[name];
  }

  write(name: StreamName, text: Printable): void {
    if (this.#accepts(name)) this.#streams[name].write(text);
  }

  /** Writes bytes as they are. Resolves when the reader has taken them, or has exited. */
  writeBytes(name: StreamName, bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#accepts(name)) this.#streams[name].write(bytes, () => resolve());
      else resolve();
    });
  }

  /** A promise that resolves when the readers have caught up or exited; undefined if they have. */
  drained(): Promise<void> | undefined {
    const names: readonly StreamName[] = ['stdout', 'stderr'];
    const slow = names.find((name) => this.#accepts(name) && this.#streams[name].writableNeedDrain === true);
    if (slow === undefined) return undefined;
    const stream = this.#streams[slow];
    return new Promise((resolve) => {
      const done = (): void => {
        stream.off?.('drain', done);
        stream.off?.('error', done);
        resolve();
      };
      stream.once?.('drain', done);
      stream.once?.('error', done);
    });
  }

  /** Resolves when stdout has accepted or refused everything that was written. */
  flushed(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#accepts('stdout')) {
        resolve();
        return;
      }
      this.#streams.stdout.write('', (error) => {
        if (error) this.#closeStdout(error);
        resolve();
      });
    });
  }

  #accepts(name: StreamName): boolean {
    return name === 'stdout' ? !this.#closed.signal.aborted : this.#hasStderrReader;
  }

  #closeStdout(error: Error): void {
    if (systemCode(error) !== READER_LEFT) this.#failure ??= outputError(error);
    this.#closed.abort();
  }
}

function outputError(cause: NodeJS.ErrnoException): AppError {
  const reason = cause.errno === undefined ? messageOf(cause) : getSystemErrorMessage(cause.errno);
  const code = cause.code === 'ENOSPC' ? 'no-space' : 'refused';
  return new AppError(code, `Could not write the output: ${reason}.`, { cause });
}

function isOnePipe(): boolean {
  const [one, other] = [fstatSync(1), fstatSync(2)];
  return one.dev === other.dev && one.ino === other.ino;
}
